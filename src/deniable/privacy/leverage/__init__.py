"""Leverage: bounds on manipulation by crafted reports, for estimates, profiles and tables."""
