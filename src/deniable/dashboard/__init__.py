"""The dashboard: pages of questions with their results, and the health of collection.

Rendered on the server, without scripts, without anything from another host.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.dashboard.routes import dashboard_routes

__all__ = ["dashboard_routes"]
