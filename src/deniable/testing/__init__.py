"""The testing kit, shipped and without pytest: `statistics`, `ledger` and `contract`.

`statistics` accepts or rejects a hypothesis at a stated false-failure probability, which `ledger`
adds up; `contract` checks every promise of a mechanism. No command needs any of it.

Public are the modules named in `__all__`, with their names; all else is internal.
"""

__all__ = ["contract", "ledger", "power", "statistics"]
