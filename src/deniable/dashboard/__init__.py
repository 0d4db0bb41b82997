"""The dashboard: pages of questions with their results, and the health of collection.

Rendered on the server, without scripts, without anything from another host.
"""

from deniable.dashboard.routes import dashboard_routes

__all__ = ["dashboard_routes"]
