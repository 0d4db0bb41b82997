"""Segments, levels and who is asked, in plain words: what chance does not change."""

from __future__ import annotations

from deniable.protocol import Question, thresholds
from deniable.protocol.epsilon import as_float
from deniable.results.disclosure.language import Language


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


def public_sentences(question: Question, levels: bool, say: Language) -> list[str]:
    """Return the same for the people who are asked; `levels` says that the survey offers some."""
    sentences = []
    for segment in question.segments:
        values = ", ".join(say("kinds.quoted", name=value) for value in segment.values)
        sentences.append(say("clear.segment", segment=segment.name, values=values))
    if question.level:
        epsilon = f"{as_float(question.epsilon_once):g}"
        sentences.append(say("clear.level", level=question.level, epsilon=epsilon))
    elif levels:
        sentences.append(say("clear.no_level"))
    if question.asked is not None:
        sentences.append(say("clear.asked", share=f"{question.asked / thresholds.ONE:.1%}"))
    return sentences
