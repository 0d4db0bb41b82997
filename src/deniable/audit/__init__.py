"""Audits of whole systems: proofs, sampled encoders, the wire, the store, and attackers.

An audit takes nobody's word: it runs the code that ships, and reports its findings.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.audit.findings import Audit, Finding

__all__ = ["Audit", "Finding"]
