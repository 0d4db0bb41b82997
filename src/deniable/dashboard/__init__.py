"""Pages: what was asked, what is known, and whether collection is healthy.

Rendered on the server, without scripts, without anything from another host.
"""

from deniable.dashboard.routes import dashboard_routes

__all__ = ["dashboard_routes"]
