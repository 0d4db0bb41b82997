"""The version of this package, which a file that may not import the whole of it can read."""

__version__ = "0.1.0"
