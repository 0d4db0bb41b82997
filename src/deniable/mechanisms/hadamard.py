"""Hadamard response for whole populations; the model stands in protocol/hadamard.py.

Let s_a be the reports of coefficient a with sign +1 less those with sign -1. Then the fast
Walsh-Hadamard transform gives for every answer at once

    T_v = sum_a (-1)^<a, v> s_a,    frequency_v = T_v / (n (2 keep - 1)).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    Candidates,
    Counts,
    Floats,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import count_cells
from deniable.mechanisms.closed_form import categories_domain
from deniable.mechanisms.coins import as_generator, coins
from deniable.mechanisms.hashing import Words
from deniable.mechanisms.pure_oracles import Held, PureOracle
from deniable.protocol import HadamardParameters

_CHUNK = 2**20


class Hadamard(PureOracle):
    """Hadamard response of one bit.

    Args:
        answers: the number of answers, an absent one included.
        epsilon: what one report may spend.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import Hadamard
        >>> rng = np.random.default_rng(1)
        >>> m = Hadamard(4, epsilon=1.0)
        >>> values = rng.choice(3, size=50_000, p=[0.5, 0.3, 0.2])
        >>> reports = m.simulate(values, rng)
        >>> found = m.estimate(m.accumulate(reports))
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2, 0.0]
    """

    parameters_type = HadamardParameters
    parameters: HadamardParameters

    def __init__(self, answers: int, *, epsilon: float) -> None:
        domain = categories_domain("Hadamard", answers)
        self._adopt(self._resolved(domain, epsilon=epsilon))

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value: codes, or labels with their list in `candidates`.

        Guarantees: the probabilities are the client's, exactly.

        Cost: linear; 5 bytes per report and a few megabytes.
        """
        rng = as_generator(rng)
        size = self.parameters.size
        codes = names.codes_of(values, len(self._asked(candidates)[0]), candidates)
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part = codes[start : start + _CHUNK]
            drawn = rng.integers(0, size, size=part.size)
            flipped = ~coins(rng, self.parameters.keep, part.size)
            reports["coefficient"][start : start + _CHUNK] = drawn
            reports["sign"][start : start + _CHUNK] = _signs(drawn, part) ^ flipped
        return reports

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per sign, a column per coefficient."""
        table = np.zeros((2, self.parameters.size), dtype=np.int64)
        return Counts(np.zeros(1, dtype=np.int64), table)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each coefficient was reported with either sign.

        Cost: linear; memory of a few megabytes and 2 K integers.

        Raises:
            InvalidReport: if a coefficient is not below K, or a sign neither 0 nor 1.
        """
        records, size = self._checked(reports), self.parameters.size

        def cell(part: Reports) -> NDArray[np.int64]:
            return np.asarray(part["sign"].astype(np.int64) * size + part["coefficient"])

        table = count_cells(records, 2 * size, cell).reshape(2, size)
        return Counts(np.array([records.size], dtype=np.int64), table)

    def _supported(self, counts: Counts, answers: int, words: Words) -> Floats:
        """Return the share of reports that support each answer; they are independent.

        Given the people's values, signs of two answers are uncorrelated but for what a person
        with one of them contributes to its mean: the covariance is diagonal, exactly. Frequencies
        need not sum to 1.

        Cost: K log2 K additions.
        """
        # Imported here because Numba takes most of a second to load and few commands estimate.
        from deniable.kernels.walsh import transform

        signed = np.ascontiguousarray(counts.table[0] - counts.table[1])
        # T_v is the number of reports that support v less those that do not: n (2 share - 1).
        return np.asarray((1 + transform(signed)[:answers] / counts.n) / 2)

    def _asked(self, candidates: Candidates) -> tuple[tuple[str, ...], Words]:
        answers = self.parameters.answers
        if candidates is None:
            return tuple(map(str, range(answers))), names.NO_WORDS
        if len(candidates) > answers:
            raise InvalidParameter(
                f"There are {answers} answers: pass that many labels at most. "
                f"Got {len(candidates)}."
            )
        return tuple(names.label_of(candidate) for candidate in candidates), names.NO_WORDS

    def _two_chances(self) -> tuple[float, float, int]:
        """keep/K where the sign is the answer's, else (1 - keep)/K."""
        return self.pure.p, 1 - self.pure.p, self.parameters.size

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        drawn = records["coefficient"].astype(np.int64)[:, None]
        yield slice(None), _signs(drawn, np.arange(answers)) == records["sign"][:, None]


def _signs(coefficients: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return 0 where a coefficient has the sign +1 for a code, and 1 where it has -1."""
    ones: NDArray[np.uint8] = np.bitwise_count(coefficients & codes)
    return ones & np.uint8(1)
