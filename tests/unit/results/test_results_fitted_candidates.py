"""Candidates are fitted to the domain as devices fit values, and what that changed is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.ask import Options, associate, estimate
from deniable.ask.candidates import Candidates
from deniable.decode import decode
from deniable.errors import InvalidParameter
from deniable.mechanisms import PGR, NGrams
from deniable.protocol import Strings
from deniable.store import SqliteStore
from material.results import answer, question

LETTERS = "abcdefghijklmnopqrstuvwxyz"
EIGHT = Strings(LETTERS, 8)
NGRAMS = f"""
[[questions.fields]]
name = "ext"
domain = {{ type = "strings", alphabet = "{LETTERS}", length = 8 }}
mechanism = "ngrams"
parameters = {{ epsilon = 12.0 }}
[[questions.fields]]
name = "dark"
domain = "boolean"
mechanism = "krr"
parameters = {{ epsilon = 2.0 }}
"""


def test_strings_are_cut_changed_merged_or_left_out_and_counted() -> None:
    listed = Candidates(["adblocker", "adblocked", "web", "Big"])
    fitted = listed.fitted(EIGHT)
    assert list(fitted) == ["adblocke", "web"]
    assert fitted.notes == (
        "2 candidates were cut off after 8 characters, as on the device.",
        "1 candidate was equal to others after that and left out.",
        "1 candidate was left out: devices refuse strings with characters outside the alphabet.",
    )
    escaped = listed.fitted(Strings(LETTERS, 20, "escape"))
    assert len(escaped) == 4
    assert any("1 candidate was changed" in note for note in escaped.notes)
    assert listed.fitted(Strings()) is listed


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(InvalidParameter, match="outside of the domain's alphabet"):
        Candidates(["Ä", "Ö"]).fitted(EIGHT)


def test_blanks_of_those_left_out_are_named() -> None:
    fitted = Candidates(["web ", "adb\t", "web", "Big"]).fitted(EIGHT)
    assert list(fitted) == ["web"]
    left, odd = fitted.notes
    assert left.startswith("3 candidates were left out")
    assert odd.startswith("Of those left out, 2 candidates begin or end with a blank or a tab")
    assert "'web ', 'adb\\t'" in odd


def test_blanks_at_the_ends_are_named() -> None:
    (note,) = Candidates(["a", "b ", "\tc"]).notes
    assert note.startswith("2 candidates begin or end with a blank or a tab")
    assert "'b '" in note


def test_one_string_is_no_list(rng: np.random.Generator) -> None:
    mechanism = PGR(epsilon=2.0)
    counts = mechanism.accumulate(mechanism.simulate(["abc"], rng))
    for wrong in (lambda: Candidates("abc"), lambda: decode(mechanism, counts, "abc")):
        with pytest.raises(InvalidParameter, match="must be a list of strings"):
            wrong()


def test_a_longer_string_is_refused_by_the_mechanism_itself(rng: np.random.Generator) -> None:
    mechanism = NGrams(alphabet=LETTERS, length=8, epsilon=6.0)
    reports = mechanism.simulate(["web"], rng)
    with pytest.raises(InvalidParameter, match="at most 8 characters"):
        mechanism.estimate(mechanism.accumulate(reports), ["adblocker"])
    with pytest.raises(InvalidParameter, match="at most 8 characters"):
        mechanism.likelihood(reports, ["adblocker"])


def test_estimate_and_associate_fit_and_say_so(tmp_path: Path, rng: np.random.Generator) -> None:
    asked, people = question(tmp_path, NGRAMS), 20_000
    with SqliteStore(tmp_path / "r.db") as store:
        codes = (rng.random(people) < 0.4).astype(int)
        held = ["toolbar", "adblocke"]
        answer(store, asked, {"ext": codes.tolist(), "dark": codes.tolist()}, rng, held)
        listed = {"ext": ["adblocker", "toolbar"]}
        table, _ = estimate(store, asked, Options(candidates=listed))
        together = associate(store, asked, Options(candidates=listed))
    share = next(row for row in table.rows if row.value == "adblocke")
    assert share.interval[0] < 0.4 < share.interval[1]
    assert share.interval[1] - share.interval[0] < 0.2
    for found in (table, together):
        assert any("1 candidate was cut off after 8" in note for note in found.notes)
