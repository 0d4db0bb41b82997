"""A survey that follows another: nothing that was asked is lost, and nothing goes backwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol import Boolean, Field, Question, Survey
from deniable.protocol import publication as module
from deniable.protocol.publication import publication
from deniable.protocol.survey import MAX_QUESTIONS

TODAY = date(2026, 3, 15)


def asked(name: str, version: int = 1, epsilon: float = 1.0, **changes: object) -> Question:
    parameters = resolve("krr", {"epsilon": epsilon}, Boolean(), False)
    field = Field("value", Boolean(), parameters)
    expires = date(2030, 1, 1)
    made = Question(name, version, "?", "o", expires, 1, "once", "recorded", (field,))
    return replace(made, **changes)  # type: ignore[arg-type]


def survey(*questions: Question) -> Survey:
    return Survey("s", "o", questions)


def keys(questions: tuple[Question, ...]) -> list[tuple[str, int]]:
    return [(q.id, q.version) for q in questions]


def test_the_first_publication_keeps_nothing() -> None:
    made = publication(None, survey(asked("a")), TODAY)
    assert made.survey == survey(asked("a"))
    assert (made.changes, made.notes) == ((), ())


def test_a_raised_version_keeps_the_old_one_and_says_what_devices_do() -> None:
    made = publication(survey(asked("a")), survey(asked("a", 2, 2.0)), TODAY)
    assert keys(made.survey.earlier) == [("a", 1)]
    (change,) = made.changes
    assert (change.kind, change.question, change.version) == ("raised", "a", 2)
    assert "go on answering version 1" in change.words
    assert "admitted until it expires, on 2030-01-01" in change.words
    assert "costs each of them epsilon 2 " in change.words
    assert "--version 1" in change.words
    assert made.survey.question("a") == asked("a", 2, 2.0)
    assert made.survey.question("a", 1) == asked("a")


def test_a_removed_question_is_withdrawn_and_may_return() -> None:
    first = survey(asked("a"), asked("b"))
    second = publication(first, survey(asked("a")), TODAY)
    assert keys(second.survey.earlier) == [("b", 1)]
    assert [c.kind for c in second.changes] == ["withdrawn"]
    assert second.survey.question("b") == asked("b")
    third = publication(second.survey, first, TODAY)
    assert third.survey == first
    assert [c.kind for c in third.changes] == ["again"]


def test_an_expired_earlier_version_stays_for_reading() -> None:
    over = asked("a", expires=date(2026, 1, 1))
    made = publication(survey(over), survey(asked("a", 2)), TODAY)
    assert made.survey.earlier == (over,)
    assert "it expired on 2026-01-01" in made.changes[0].words


VERSIONS = st.lists(
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 4), min_size=1), min_size=1, max_size=6
)


@settings(max_examples=100, deadline=None)
@given(VERSIONS)
def test_whatever_was_published_stays_known_and_again_changes_nothing(
    plans: list[dict[str, int]],
) -> None:
    """A refused publication changes nothing; a good one forgets nothing."""
    before: Survey | None = None
    ever: set[tuple[str, int]] = set()
    for plan in plans:
        ready = survey(*(asked(name, version) for name, version in sorted(plan.items())))
        newest = {name: max(v for n, v in ever if n == name) for name in {n for n, _ in ever}}
        backwards = any(version < newest.get(name, 0) for name, version in plan.items())
        if backwards:
            with pytest.raises(InvalidParameter, match="goes backwards"):
                publication(before, ready, TODAY)
            continue
        before = publication(before, ready, TODAY).survey
        ever |= set(plan.items())
        assert set(keys(before.known)) == ever
        assert set(keys(before.questions)) == set(plan.items())
        assert Survey.from_published(before.published()) == before
        again = publication(before, ready, TODAY)
        assert again.survey == before
        assert again.changes == ()


def test_a_version_is_never_used_again_with_other_parameters() -> None:
    before = publication(survey(asked("a")), survey(asked("a", 2)), TODAY).survey
    for version in (1, 2):  # the one in `earlier` too
        with pytest.raises(InvalidParameter, match=r"other parameters.*raise its version"):
            publication(before, survey(asked("a", 3), asked("a", version, 9.0)), TODAY)
    withdrawn = publication(survey(asked("a"), asked("b")), survey(asked("b")), TODAY).survey
    with pytest.raises(InvalidParameter, match="other parameters"):
        publication(withdrawn, survey(asked("b"), asked("a", 1, 2.0)), TODAY)


def test_a_version_that_goes_backwards_is_refused() -> None:
    before = publication(survey(asked("a", 2)), survey(asked("a", 5)), TODAY).survey
    with pytest.raises(InvalidParameter, match=r"goes backwards.*Use version 6"):
        publication(before, survey(asked("a", 3)), TODAY)
    with pytest.raises(InvalidParameter, match="from version 5 to 2"):
        publication(before, survey(asked("a", 2)), TODAY)
    with pytest.raises(InvalidParameter, match="version 3 was not"):
        publication(before, survey(asked("a", 5), asked("a", 3)), TODAY)
    both = publication(before, survey(asked("a", 2), asked("a", 5)), TODAY).survey
    assert both.earlier == ()


def test_what_is_in_no_digest_may_change_and_is_said() -> None:
    later = asked("a", expires=date(2031, 1, 1), description="new words")
    made = publication(survey(asked("a")), survey(later), TODAY)
    assert made.survey == survey(later)
    assert made.changes[0].kind == "edited"
    assert "keep to the old day" in made.changes[0].words


def test_earlier_versions_are_forgotten_only_by_name() -> None:
    before = publication(survey(asked("a"), asked("b")), survey(asked("a", 2)), TODAY).survey
    assert keys(before.earlier) == [("a", 1), ("b", 1)]
    made = publication(before, survey(asked("a", 2)), TODAY, [("b", 1)])
    assert keys(made.survey.earlier) == [("a", 1)]
    assert [c.kind for c in made.changes] == ["forgotten"]
    assert "Never use this version again" in made.changes[0].words
    with pytest.raises(InvalidParameter, match="a:2 is asked"):
        publication(before, survey(asked("a", 2)), TODAY, [("a", 2)])
    with pytest.raises(InvalidParameter, match=r"c:1 is no earlier version. There are: a:1, b:1"):
        publication(before, survey(asked("a", 2)), TODAY, [("c", 1)])


def test_a_survey_copied_without_its_history_is_named() -> None:
    made = publication(None, survey(asked("a", 3), asked("b")), TODAY)
    (note,) = made.notes
    assert "Nothing is known of 'a' before version 3" in note
    assert "copy the survey.json published last" in note
    kept = publication(survey(asked("a", 2)), survey(asked("a", 3), asked("b")), TODAY)
    assert kept.notes == ()


def test_both_together_are_bounded_in_number() -> None:
    full = survey(*(asked(f"q{i}") for i in range(MAX_QUESTIONS - 1)))
    new = survey(asked("x"))
    made = publication(full, new, TODAY).survey
    assert len(made.known) == MAX_QUESTIONS
    with pytest.raises(InvalidParameter, match=r"Got 2 and 999.*--forget"):
        publication(made, survey(asked("x"), asked("y")), TODAY)
    forgot = publication(made, survey(asked("x"), asked("y")), TODAY, [("q0", 1)])
    assert len(forgot.survey.known) == MAX_QUESTIONS


def test_both_together_are_bounded_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SURVEY_BYTES", 1_000)
    long = asked("a", description="x" * 600)
    publication(None, survey(long), TODAY)
    with pytest.raises(InvalidParameter, match=r"of earlier versions; at most 1,000.*--forget"):
        publication(survey(long), survey(asked("a", 2, description="x" * 600)), TODAY)


def test_a_reader_refuses_more_than_are_allowed_together() -> None:
    many = Survey("s", "o", (asked("z"),), tuple(asked(f"q{i:04}") for i in range(MAX_QUESTIONS)))
    with pytest.raises(InvalidSurvey, match="at most 1,000 questions"):
        Survey.from_published(many.published())
