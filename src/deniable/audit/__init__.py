"""Audits of whole systems: proofs, sampled encoders, the wire, the store, and attackers.

An audit takes nobody's word: it runs the code that ships, and reports its findings.
"""

from deniable.audit.findings import Audit, Finding

__all__ = ["Audit", "Finding"]
