"""[EPK14] figure 1: the life of one report, through the client's own encoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.client.encoders.rappor import RapporEncoder
from deniable.mechanisms import Rappor
from deniable.protocol import Answer
from deniable.protocol.domain import string_key
from deniable.protocol.hashing import bloom_bits
from deniable_papers.base import Figure, Options, Outcome, Rows
from deniable_papers.common.charts import COLOURS, LOOK, altair, data_of, styled
from deniable_papers.common.scoring import mean

STRING = "The number 68"
MECHANISM = Rappor(bits=256, hashes=4, cohorts=1, f=0.5, p=0.5, q=0.75)
STAGES = ("Bloom filter B", "permanent response B'", "report S")
Bits = NDArray[np.bool_]


class Recorded:
    """Draws from a generator that are kept, so that one sees what the encoder drew."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self.coins: list[bool] = []

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True with probability threshold / 2^bits; see the client's `Draws`."""
        word = int(self._rng.integers(2**64, dtype=np.uint64)) >> (64 - bits)
        self.coins.append(word < threshold)
        return self.coins[-1]

    def below(self, bound: int) -> int:
        """Return a uniform integer of 0..bound-1."""
        return int(self._rng.integers(bound))


def life(rng: np.random.Generator) -> tuple[Bits, Bits, Bits]:
    """Return the true Bloom filter, the permanent response and the report of one client."""
    parameters = MECHANISM.parameters
    answer = Answer(string_key(STRING))
    cohort, permanent, fresh = Recorded(rng), Recorded(rng), Recorded(rng)
    RapporEncoder(parameters).encode(answer, cohort, permanent, fresh)
    true = np.zeros(parameters.bits, dtype=np.bool_)
    true[bloom_bits(answer.words, 0, parameters.hashes, parameters.bits)] = True
    return true, np.array(permanent.coins), np.array(fresh.coins)


def counted(lived: tuple[Bits, Bits, Bits]) -> dict[str, int]:
    """Return the numbers that the paper gives of its own run."""
    true, permanent, report = lived
    return {
        "bloom_bits": int(true.sum()),
        "bloom_bits_in_permanent": int((true & permanent).sum()),
        "of_these_in_report": int((true & permanent & report).sum()),
        "ones_in_report": int(report.sum()),
    }


def run(options: Options) -> Outcome:
    """Encode one client's value, and many more for the averages."""
    rng = options.generators(1)[0]
    shown = life(rng)
    others = [counted(life(rng)) for _ in options.steps(range(options.people))]
    q, p = float(MECHANISM.parameters.q_star), float(MECHANISM.parameters.p_star)
    bits, hashes = MECHANISM.parameters.bits, MECHANISM.parameters.hashes
    ours = {
        **counted(shown),
        "expected_ones_in_report": hashes * q + (bits - hashes) * p,
        "mean_ones_in_report": mean(one["ones_in_report"] for one in others),
        "expected_bloom_bits_in_permanent": hashes * 0.75,
        "mean_bloom_bits_in_permanent": mean(one["bloom_bits_in_permanent"] for one in others),
    }
    rows = _rows(shown)
    return Outcome(PAPER_NUMBERS, ours, {"bits": rows}, _chart(rows), NOTES)


def _rows(lived: tuple[Bits, Bits, Bits]) -> Rows:
    return [
        {"stage": stage, "bit": bit, "set": bool(value), "held": bool(lived[0][bit])}
        for stage, bits in zip(STAGES, lived, strict=True)
        for bit, value in enumerate(bits)
    ]


def _chart(rows: Rows) -> Any:
    alt = altair()
    bits = alt.Scale(domain=[0, MECHANISM.parameters.bits], nice=False)
    place = alt.X("bit:Q", title="bit", scale=bits, axis=alt.Axis(grid=False))
    stage = alt.Y("stage:N", title=None, sort=list(STAGES), scale=alt.Scale(padding=0.25))
    colour = alt.condition("datum.held", alt.value(COLOURS[1]), alt.value(LOOK.whisker))
    ones = alt.Chart(data_of([row for row in rows if row["set"]]), width=768, height=200)
    lines = (
        ones.transform_calculate(end="datum.bit + 1")
        .mark_rect(stroke=None)
        .encode(x=place, x2="end:Q", y=stage, color=colour)
    )
    return styled(lines, f'Life of a report: "{STRING}"', "orange: bits of the true value")


PAPER_NUMBERS = {
    "bloom_bits": 4,
    "bloom_bits_in_permanent": 2,
    "of_these_in_report": 2,
    "ones_in_report": 145,
}
NOTES = (
    "k = 256, h = 4, f = 0.5, p = 0.5, q = 0.75, one cohort. Figure 1 encodes 'The number 68', the "
    "text says '68'. One random run each: only the averages can be compared.",
    "The text says that Bloom bits lost in B' are never reported by this client. They are: with "
    "p = 0.5 every second report has them at 1; what is lost is the information.",
)
FIGURE = Figure(
    id="epk14-fig1",
    paper="[EPK14] figure 1",
    title="Life of a report",
    shows="A string becomes a Bloom filter, a permanent response and a report.",
    run=run,
    runs=1,
    full_runs=1,
    people=2_000,
    full_people=2_000,
)
