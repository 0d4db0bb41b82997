"""The command line: one file per verb.

Exit codes: 0 done; 1 something is wrong with the input (a survey with problems, an unknown
question, ...) or an audit found something; 2 the command was called wrongly; 3 an optional
dependency is missing; 4 the store or a file could not be read or written.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.cli.app import run

__all__ = ["run"]
