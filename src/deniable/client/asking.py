"""The consent helper for terminals: it shows a notice and asks once, or is silent."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from deniable.client.consent import Consent

if TYPE_CHECKING:
    from deniable.client.client import Client

CI_VARIABLES = (
    "CI",
    "CONTINUOUS_INTEGRATION",
    "BUILD_NUMBER",
    "BUILDKITE",
    "GITHUB_ACTIONS",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TF_BUILD",
)
"""Variables that build services set. Nobody sits there, so nobody can agree."""

_ATTEMPTS = 3


def somebody_is_there(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a person can read a question here and type an answer.

    False in a build service, and wherever input, output or errors are not a terminal: a pipe, a
    file, a service, a cron job.
    """
    if any(environment.get(name, "").lower() not in ("", "0", "false") for name in CI_VARIABLES):
        return False
    return all(_is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr))


def ask(client: Client) -> Consent:
    """Ask the person at the terminal, if there is one and nothing was decided before.

    Edge cases: an empty line is a no. Whoever ends the input, or answers neither yes nor no three
    times, has not answered: nothing is stored, and the next start asks again.
    """
    if client.consent is not Consent.UNKNOWN or not somebody_is_there():
        return client.consent
    _print(client.notice())
    for _ in range(_ATTEMPTS):
        _print("May these answers be sent? [y]es, [N]o, [d]etails: ", end="")
        line = sys.stdin.readline()
        word = line.strip().lower()
        if not line:
            _print("")
            break
        if word in ("y", "yes"):
            client.opt_in()
            break
        if word in ("", "n", "no"):
            client.opt_out()
            break
        _print(client.explain() if word in ("d", "details", "?") else "Please type y, n or d.")
    return client.consent


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _print(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)
