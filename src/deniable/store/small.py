"""Which combinations of segments are told apart, and which become "(small)".

The rule. Of the reports of one question, version, level and epoch, every combination that fewer
people share than the floor goes into "(small)". Where that has fewer reports than the floor itself,
the next smallest combination joins it: else the name of a single small one followed by
elimination, and its number from the sum. If all of them together are below the floor, all are
small.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from deniable.protocol.segments import SMALL, small_combination


def small_ones(reports: Mapping[str, int], floor: int) -> frozenset[str]:
    """Return the combinations that become "(small)", those that are it already included.

    Args:
        reports: the number of reports by the text of a combination, of one question, version,
            level and epoch. The empty text, of reports without segments, is never small.
        floor: the fewest reports of a combination that is told apart.

    Example:
        >>> told = {'{"p":"a"}': 500, '{"p":"b"}': 120, '{"p":"c"}': 3}
        >>> sorted(small_ones(told, 100))  # 3 alone are fewer than 100
        ['{"p":"b"}', '{"p":"c"}']
        >>> small_ones({'{"p":"a"}': 500, '{"p":"b"}': 120}, 100)
        frozenset()
    """
    rising = sorted((number, text) for text, number in reports.items() if text)
    small = {text for number, text in rising if number < floor or is_small(text)}
    for _, text in rising:
        if small and sum(reports[each] for each in small) < floor:
            small.add(text)
    return frozenset(small)


def is_small(text: str) -> bool:
    """Tell whether the text of a combination says "(small)"."""
    return bool(text) and SMALL in json.loads(text).values()


def masked(reports: Mapping[str, int], floor: int) -> dict[str, str]:
    """Return under which name each combination is told: its own, or "(small)"."""
    small = small_ones(reports, floor)
    return {text: small_combination(text) if text in small else text for text in reports}
