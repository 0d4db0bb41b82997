"""The measurements of `honesty.py`, by kind of answer: shares, tables, profiles, strings."""
