"""Manipulation of tables of attributes by crafted reports: raw tables, and smoothed ones."""
