"""What a real client sends to a real collector, recorded between them and checked byte by byte.

`bytes_sent` runs the audit, and `checks` has one function per finding.
"""
