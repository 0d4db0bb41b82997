"""Joint tables with "(other)": coverage of cells and conditional shares, level of the test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from _honesty.grid import Cell, Measured, over_runs, share, shares_of
from deniable.ask.associate.read_joint import joint_read, weakened
from deniable.associate import Joint, Pair, Variable, conditional
from deniable.associate import associate as fit_two
from deniable.decode.reading import Reading
from deniable.errors import InvalidParameter
from deniable.mechanisms import (
    HCMS,
    KRR,
    OLH,
    ORR,
    OUE,
    PGR,
    Hadamard,
    Mechanism,
    NGrams,
    Prefixes,
    Rappor,
    Subset,
)

NAMED, CLOSED, UNLISTED = 3, 8, 60
LETTERS, LENGTH = "abcdefghijklmnopqrstuvwxyz", 6
YES = np.array([0.2, 0.5, 0.7, 0.35])
"""The share of yes among people with each named answer, and with another one."""
OPEN: dict[str, Callable[[float, int], Mechanism]] = {
    "rappor": lambda e, _: Rappor(bits=32, cohorts=8, epsilon=e),
    "orr": lambda e, _: ORR(epsilon=e),
    "olh": lambda e, _: OLH(epsilon=e),
    "olh with a pool": lambda e, _: OLH(epsilon=e, seeds=4_096),
    "hcms": lambda e, _: HCMS(epsilon=e, rows=16, width=256),
    "pgr": lambda e, _: PGR(epsilon=e),
    "ngrams": lambda e, _: NGrams(alphabet=LETTERS, length=LENGTH, epsilon=e, bits=32, cohorts=8),
    "prefixes": lambda e, n: Prefixes(
        epsilon=e, alphabet=LETTERS, length=LENGTH, people=max(n, 100)
    ),
}
LISTED: dict[str, Callable[[float, int], Mechanism]] = {
    "krr": lambda e, _: KRR(CLOSED, epsilon=e),
    "oue": lambda e, _: OUE(CLOSED, epsilon=e),
    "subset": lambda e, _: Subset(CLOSED, epsilon=e),
    "hadamard": lambda e, _: Hadamard(CLOSED, epsilon=e),
    "pgr closed": lambda e, _: PGR(CLOSED, epsilon=e),
    "rappor basic": lambda e, _: Rappor.basic(CLOSED, epsilon=e),
    "orr closed": lambda e, _: ORR(CLOSED, epsilon=e),
    "hcms closed": lambda e, _: HCMS(CLOSED, epsilon=e, rows=16, width=64),
}
MECHANISMS = {**LISTED, **OPEN}


def population_of(cell: Cell) -> np.ndarray:
    """Return the shares of the named answers and of all others together."""
    rest = 5 if cell.mechanism in LISTED else 20
    listed = shares_of(cell.population, NAMED + rest)
    return np.append(listed[:NAMED], max(0.0, 1 - listed[:NAMED].sum()))


def simulated(cell: Cell, runs: int) -> list[Measured]:
    """Return coverage of cells and of conditional shares, and the test's type I error."""
    mechanism, rng = MECHANISMS[cell.mechanism](cell.epsilon, cell.people), cell.rng
    shares, reading = population_of(cell), Reading(people=float(cell.epochs))
    cells, given, levels, informed, refused = [], [], [], [], 0
    for _ in range(runs):
        names = drawn_names(UNLISTED, rng) if mechanism.hashed else None
        setting = (cell.people, cell.epsilon, cell.epochs)
        both = people_of(mechanism, setting, shares, YES, names, rng)
        alike = people_of(mechanism, setting, shares, np.full(NAMED + 1, 0.3), names, rng)
        try:
            joint, _ = fit_two(both)
            level = float(independent_p(alike, reading) <= 0.05)
        except InvalidParameter:  # so few reports that answers cannot be told apart: it says so
            refused += 1
            continue
        joint, _ = joint_read(joint, reading)
        informed.append(float(joint.informative))
        of_cells, of_shares = covered(joint, shares)
        cells.append(of_cells)
        given.append(of_shares)
        levels.append(level)
    return [
        *over_runs("coverage of joint cells", cells, 2 * shares.size),
        *over_runs("coverage of conditional shares", given, 2),
        *over_runs("type I error", levels),
        *over_runs("informed tables", informed),
        Measured("refused tables", refused / runs, 0.0, runs),
    ]


def covered(joint: Joint, shares: np.ndarray) -> tuple[float, float]:
    """Return the shares of cells and of conditional shares whose intervals hold the truth."""
    truth = np.stack([shares * (1 - YES), shares * YES], axis=1)
    cells = share((joint.low <= truth + 1e-9) & (joint.high >= truth - 1e-9))
    found = conditional(joint, "dark", "site")
    asked = np.isfinite(found.low) & (shares > 0)[:, None]
    known = np.stack([1 - YES, YES], axis=1)
    inside = (found.low <= known + 1e-9) & (found.high >= known - 1e-9)
    return cells, share(inside[asked])


def drawn_names(unlisted: int, rng: np.random.Generator) -> list[str]:
    """Return the named strings, and then as many that nobody lists."""
    letters = rng.choice(list(LETTERS), size=(NAMED + unlisted, LENGTH))
    return list(dict.fromkeys("".join(row) for row in letters))


def people_of(
    mechanism: Mechanism,
    setting: tuple[float, ...],
    shares: np.ndarray,
    yes: np.ndarray,
    names: list[str] | None,
    rng: np.random.Generator,
) -> list[Variable]:
    """Return the reports of people whose yes depends on their answer, in all epochs.

    Args:
        mechanism: of the answers.
        setting: the number of people, the epsilon of the yes/no, and that of epochs (1).
        shares: of the named answers, and of all others together.
        yes: the share of yes among people with each.
        names: of the answers; None of a closed domain.
        rng: the source of randomness.
    """
    n, epsilon, epochs = int(setting[0]), setting[1], int([*setting, 1][2])
    dark = KRR(2, epsilon=epsilon)
    answers = rng.choice(NAMED + 1, size=n, p=shares)
    most = CLOSED if names is None else len(names)
    codes = np.where(answers < NAMED, answers, rng.integers(NAMED, most, n))
    says = (rng.random(n) < yes[answers]).astype(np.int64)
    codes, says = (np.concatenate([each] * epochs) for each in (codes, says))
    listed = tuple(str(i) for i in range(NAMED)) if names is None else tuple(names[:NAMED])
    reports = mechanism.simulate(codes, rng, names)
    return [
        Variable("site", mechanism, reports, listed),
        Variable("dark", dark, dark.simulate(says, rng)),
    ]


def independent_p(variables: list[Variable], reading: Reading) -> float:
    """Return the p-value of independence, as it is printed."""
    joint, test = fit_two(variables)
    _, factor = joint_read(joint, reading)
    pair = Pair(("site", "dark"), test, test.p_value, test.p_value)
    return weakened((pair,), factor)[0].test.p_value
