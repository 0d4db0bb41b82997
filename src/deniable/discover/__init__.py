"""Strings nobody listed."""
