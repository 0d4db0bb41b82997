"""Authoring: from the TOML that people write to the integers of a published survey.

Standard library only, and no part of any client: changing a line here breaks no client in the
field, since what is published holds integers and strings alone.

    survey.toml -> survey -> field, domain, profile -> mechanism, or auto's choice -> survey.json
"""

from deniable.authoring.survey import Authored, read_authored

__all__ = ["Authored", "read_authored"]
