"""The testing kit, shipped and without pytest: `exact`, `statistics`, `ledger` and `contract`.

`exact` proves a promise by enumeration; `statistics` accepts or rejects a hypothesis at a stated
false-failure probability, which `ledger` adds up; `contract` checks every promise of a mechanism.
"""
