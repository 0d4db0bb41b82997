"""What a collector keeps of those who report: tables, files, bytes, and the order of rows.

`kept_data` runs the audit.
"""
