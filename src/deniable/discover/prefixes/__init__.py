"""Prefix growth: strings grown level by level from their beginnings, tested on other people."""
