"""Attackers against a survey's own parameters: averaging, linking, crafted reports; detection.

`attackers` runs the audit.
"""
