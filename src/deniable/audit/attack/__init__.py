"""Attackers against a survey's own parameters: averaging, linking, poisoning; and their detection.

`attackers` runs the audit.
"""
