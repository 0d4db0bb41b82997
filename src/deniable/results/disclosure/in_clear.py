"""Segments, levels and who is asked, in plain words: what chance does not change."""

from __future__ import annotations

from deniable.protocol import Question, thresholds
from deniable.protocol.epsilon import as_float


def clear_sentences(question: Question) -> list[str]:
    """Return what a report shows in clear, for analysts and privacy engineers."""
    sentences = []
    if question.segments:
        listed = "; ".join(f"{s.name}: {', '.join(s.labels)}" for s in question.segments)
        sentences.append(
            f"A report carries in clear ({listed}). Epsilon does not cover it: that a person is in "
            "a segment is exact, and who reads the wire or an open epoch sees it."
        )
    if question.level:
        sentences.append(
            f"This is its level '{question.level}', visible in clear: people choose one level for "
            "all questions, and a change of level costs both epsilons."
        )
    if question.asked is not None:
        sentences.append(
            f"About {question.asked / thresholds.ONE:.4g} of all devices are asked, drawn from "
            "their secrets; the others send and spend nothing."
        )
    return sentences


def public_sentences(question: Question, levels: bool) -> list[str]:
    """Return the same for the people who are asked; `levels` says that the survey offers some."""
    sentences = []
    for segment in question.segments:
        values = ", ".join(f"“{value}”" for value in segment.values)
        sentences.append(
            f"Beside the changed answer your device tells, unchanged and for anyone to read on the "
            f"way: {segment.name}, one of {values} or “other”. Chance does not protect this."
        )
    if question.level:
        sentences.append(
            f"This is how it is for people who chose the level “{question.level}” (limit "
            f"{as_float(question.epsilon_once):g} per report). Which level you chose can be seen."
        )
    elif levels:
        sentences.append("This question has one limit for everybody, whichever level you chose.")
    if question.asked is not None:
        sentences.append(
            f"Only about {question.asked / thresholds.ONE:.1%} of devices are asked. Your device "
            "drew by lot whether it is one of them; if not, it sends nothing."
        )
    return sentences
