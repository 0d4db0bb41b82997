"""Questions about many attributes at once: tables of any few, pairs, the dependency tree."""

from deniable.ask.profiles.along_tree import along_tree
from deniable.ask.profiles.pairs import pairs_table, sample_table, tree_table
from deniable.ask.profiles.pooled_reports import any_profiles, profiles
from deniable.ask.profiles.reports import Both, Given, Profiles
from deniable.ask.profiles.shares import Kind, shares_of

__all__ = [
    "Both",
    "Given",
    "Kind",
    "Profiles",
    "along_tree",
    "any_profiles",
    "pairs_table",
    "profiles",
    "sample_table",
    "shares_of",
    "tree_table",
]
