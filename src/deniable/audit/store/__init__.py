"""Audit of a collector's store for traces of senders: tables, files, bytes, and the order of rows.

`kept_data` runs the audit.
"""
