"""The collector: HTTP requests in, admitted reports out.

    request -> limits -> admission -> group commit -> store

`create_app` makes the application, `serve` runs it; a dashboard beside it is wrapped in
`AnalystGuard`.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.errors import MissingExtra

try:
    from deniable.collector.app import create_app
    from deniable.collector.auth import AnalystGuard
    from deniable.collector.reasons import Reason
    from deniable.collector.serve import serve
    from deniable.collector.settings import Settings, hash_token, hash_write_keys, new_token
except ModuleNotFoundError as error:
    if (error.name or "").startswith("deniable"):
        raise
    raise MissingExtra("server", "The collector") from error

__all__ = [
    "AnalystGuard",
    "Reason",
    "Settings",
    "create_app",
    "hash_token",
    "hash_write_keys",
    "new_token",
    "serve",
]
