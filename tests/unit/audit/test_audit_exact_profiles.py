"""Proofs of questions about profiles: the arguments, and encoders that break them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from deniable.audit.answers import some_answers
from deniable.audit.exact.proofs import Proven, prove_field
from deniable.client.encoders import Draws
from deniable.client.encoders.cells import kept_or_moved
from deniable.client.encoders.coefficients import CoefficientsEncoder
from deniable.client.encoders.inp_em import InpEMEncoder
from deniable.client.encoders.inp_ht import InpHTEncoder
from deniable.client.encoders.marg_ps import MargPSEncoder
from deniable.client.encoders.marg_rr import MargRREncoder
from deniable.client.encoders.unary import pack_bits
from deniable.protocol import (
    Answer,
    MargPSParameters,
    ProfileParameters,
    Question,
    ViewsParameters,
)
from deniable.protocol.profile_marginals import rank_of
from deniable.protocol.thresholds import ONE
from material.audits import ONCE, a_question, about_profiles, profile_of

LARGE = {question.id: question for question in about_profiles((2, 3, 5))}


def proof(question: Question) -> Proven:
    (proven,) = prove_field(question, question.fields[0], np.random.default_rng(3))
    return proven


def problem(name: str) -> str:
    proven = proof(LARGE[f"{name}-2x3x5"])
    assert not proven.holds
    return proven.problem


def test_the_arguments_are_said() -> None:
    said = {name: proof(question).argument for name, question in LARGE.items()}
    assert said["marg_ht-2x3x5"].startswith("per symbol, given the marginal and the coefficient:")
    assert said["views-2x3x5"].startswith("per symbol, given the view:")
    assert said["inp_ps-2x3x5"].startswith("per symbol: what a report is about")
    assert said["marg_rr-2x3x5"].startswith("per bit, given the marginal:")
    assert said["inp_em-2x3x5"].startswith("per bit: each of 6 bits")


def test_one_table_of_every_size_is_looked_at() -> None:
    levels = (2, 3, 4, 5, 9, 2, 64)
    for name in ("marg_ps", "views"):
        parameters = a_question("q", profile_of(*levels), name, ONCE).fields[0].parameters
        assert isinstance(parameters, MargPSParameters | ViewsParameters)
        found = {parameters.cells(number) for (number,) in parameters.channel.examples}
        assert found == set(parameters.sizes)


def test_ranks_are_those_of_a_list() -> None:
    for size in (1, 2, 3):
        for rank, subset in enumerate(combinations(range(6), size)):
            assert rank_of(subset, 6) == rank


def test_the_first_two_records_differ_in_every_bit() -> None:
    field = a_question("q", profile_of(2, 3, 4, 5, 64, 65), "coefficients", ONCE).fields[0]
    parameters = field.parameters
    assert isinstance(parameters, ProfileParameters)
    one, other, *_ = some_answers(field, False)
    for a, b, width in zip(one.codes, other.codes, parameters.bits, strict=True):
        assert a ^ b == (1 << width) - 1


class TestBroken:
    """Encoders that break the argument are not proven."""

    def test_a_table_chosen_by_the_record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: MargPSEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            p = self._parameters
            number = (fresh.below(p.marginals) + answer.codes[0]) % p.marginals
            cells = p.cells(number)
            cell = kept_or_moved(p.cell(number, answer.codes), cells, p.keep(cells), fresh)
            return p.layout.pack({"symbol": number * p.most_cells + cell})

        monkeypatch.setattr(MargPSEncoder, "encode", encode)
        assert "not what was drawn" in problem("marg_ps")

    def test_an_order_chosen_by_the_record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: CoefficientsEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            p = self._parameters
            first = fresh.coin(p.orders[0] + answer.codes[0])  # 2^-64 more
            start = 0 if first else p.counts[0]
            coefficient = start + fresh.below(p.counts[0] if first else p.counts[1])
            sign = 0 if fresh.coin(p.plus(*p.value(coefficient, answer.codes))) else 1
            return p.layout.pack({"symbol": 2 * coefficient + sign})

        monkeypatch.setattr(CoefficientsEncoder, "encode", encode)
        assert "not drawn alike" in problem("coefficients")

    def test_a_sign_without_a_coin(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: InpHTEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            coefficient = fresh.below(self._parameters.coefficients)
            return self._parameters.layout.pack({"symbol": 2 * coefficient + answer.codes[0] % 2})

        monkeypatch.setattr(InpHTEncoder, "encode", encode)
        assert "for some answers" in problem("inp_ht")

    def test_a_coin_that_two_bits_share(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: InpEMEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            p = self._parameters
            cell, kept = p.cell(answer.codes), fresh.coin(p.keep)
            sent = [bool(cell >> i & 1) == kept for i in range(p.width)]
            return p.layout.pack({"bits": pack_bits(sent, p.width)})

        monkeypatch.setattr(InpEMEncoder, "encode", encode)
        assert "more than one bit" in problem("inp_em")

    def test_a_threshold_that_is_too_large_in_one_size_of_table(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = MargPSParameters.keep

        def keep(self: MargPSParameters, cells: int) -> int:
            more = ONE // 10**6 if cells == self.sizes[0] else 0
            return right(self, cells) + more

        wanted = LARGE["marg_ps-2x3x5"].fields[0].parameters.epsilon_once
        monkeypatch.setattr(MargPSParameters, "keep", keep)
        proven = proof(LARGE["marg_ps-2x3x5"])
        assert (proven.proof.micros or 0) > wanted

    def test_bits_of_two_cells(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: MargRREncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            p = self._parameters
            number = fresh.below(p.marginals)
            own = p.cell(number, answer.codes)
            thresholds = (
                p.one if cell in (own, own ^ 1) else p.zero for cell in range(p.cells(number))
            )
            bits = pack_bits((fresh.coin(threshold) for threshold in thresholds), p.most_cells)
            packed: dict[str, int | bytes] = {"marginal": number, "bits": bits}
            return p.layout.pack(packed)

        monkeypatch.setattr(MargRREncoder, "encode", encode)
        assert "one bit of its own" in problem("marg_rr")
