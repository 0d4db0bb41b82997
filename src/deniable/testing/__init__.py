"""The testing kit, shipped: `statistics`, `ledger` and `contract`, and `app_client` for pytest.

`statistics` accepts or rejects a hypothesis at a stated false-failure probability, which `ledger`
adds up; `contract` checks every promise of a mechanism. `app_client` is for the tests of apps: a
client that raises at their mistakes. No command needs any of it.

Public are the modules named in `__all__`, with their names; all else is internal.
"""

__all__ = ["app_client", "contract", "ledger", "power", "statistics"]
