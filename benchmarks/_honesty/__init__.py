"""The parts of `honesty.py`, a file per kind of answer: shares, tables, profiles, strings."""
