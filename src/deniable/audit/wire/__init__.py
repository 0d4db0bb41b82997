"""Audit of the wire: requests of a real client to a real collector, recorded and checked.

`bytes_sent` runs the audit, and `checks` has one function per finding.
"""
