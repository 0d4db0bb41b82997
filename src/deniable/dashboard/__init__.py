"""The dashboard: pages of questions with their results, and the health of collection.

Rendered on the server, without anything from another host, and without scripts but for /try.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.dashboard.routes import dashboard_routes

__all__ = ["dashboard_routes"]
