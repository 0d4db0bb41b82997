"""A survey's questions as code, so that a misspelt name or value does not compile."""

from deniable.results.names.python import python_module
from deniable.results.names.typescript import typescript_types

__all__ = ["python_module", "typescript_types"]
