"""What `honesty.py` measures, a file per kind of answer: shares, tables, profiles, found strings."""
