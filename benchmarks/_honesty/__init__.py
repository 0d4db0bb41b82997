"""The measurements of `honesty.py`, a file per kind: shares, tables, profiles, found strings."""
