"""What `honesty.py` measures, a file per kind: shares, tables, profiles, found strings."""
