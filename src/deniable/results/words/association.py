"""An association in plain words: which answers go together, how surely, and what stays unseen."""

from __future__ import annotations

import math

from deniable.associate import OTHER_LABEL
from deniable.decode.reading import critical
from deniable.results.labels import shortened
from deniable.results.table.columns import Row
from deniable.results.table.table import Table, Words
from deniable.results.table.text import limit_sentence, typical_error
from deniable.results.words.shares import HALVED, of_sentence

NO_INFORMATION = (
    "Nothing was learned about which answers go together, at this epsilon and number of reports: "
    "the table says no more than the fields do one by one."
)
ALPHA = 0.05
"""A p-value below this is called evidence."""
_NAMED = 3
"""The number of combinations that a sentence names."""
_METHODS = {
    "moments": "moment test",
    "score": "score test",
    "wald": "maximum-likelihood Wald test",
    "bootstrap": "parametric bootstrap",
}


def association_words(table: Table) -> Words:
    """Say what an association means."""
    tests = table.parts["tests"].rows
    learned = [] if table.about.more["fit"]["informative"] else [NO_INFORMATION]
    learned += [independence_sentence(test) for test in tests]
    mutual = table.parts.get("mutual")
    learned += [_mutual_sentence(test) for test in (mutual.rows if mutual else ())]
    share = table.about.crafted
    if share is not None:
        learned.extend(crafted_sentence(test, share) for test in tests)
    if "odds_ratio" in table.columns.place and any(test.p_holm < ALPHA for test in tests):
        learned.extend(_together(table))  # else what stands out does so by chance
    return Words(tuple(learned), _not_learned(table))


def plain_findings(table: Table) -> tuple[str, ...]:
    """Return what the tests of an association found, without their numbers."""
    told = []
    for test in table.parts["tests"].rows:
        pair = f"{test.first} and {test.second}"
        if not math.isfinite(test.p_value):
            told.append(f"Whether {pair} go together cannot be told from these reports.")
        elif test.p_holm < ALPHA:
            told.append(f"The answers to {pair} go together more than chance explains.")
        else:
            told.append(f"There is no evidence that the answers to {pair} go together.")
    return tuple(told)


def independence_sentence(test: Row) -> str:
    """Say what a test of independence found."""
    one, two = test.first, test.second
    if not math.isfinite(test.p_value):
        return f"Whether {one} and {two} go together cannot be told from these reports."
    found = _tested(test)
    corrected = test.p_holm
    if corrected != test.p_value:
        found += f", {_p_words(corrected)} corrected for the number of pairs"
    if corrected < ALPHA:
        return f"{one} and {two} depend on each other {found})."
    return f"There is no evidence that {one} and {two} depend on each other {found})."


def _tested(test: Row) -> str:
    """Return the numbers of a test, in an open parenthesis."""
    return (
        f"({_METHODS.get(test.method, test.method)}: {test.statistic:.4g} on {test.dof} degrees "
        f"of freedom, {_p_words(test.p_value)}"
    )


def _mutual_sentence(test: Row) -> str:
    """Say what the test of more than two fields together found."""
    if not math.isfinite(test.p_value):
        return "Whether all fields are independent together cannot be told from these reports."
    if test.p_value < ALPHA:
        return f"The fields are not mutually independent {_tested(test)})."
    return f"There is no evidence against mutual independence of all fields {_tested(test)})."


def crafted_sentence(test: Row, crafted: float) -> str:
    """Say whether what a test found still holds if a share of the reports is crafted."""
    names, (least, most) = f"{test.first} and {test.second}", test.crafted_p_holm
    if_so = f"With {crafted:.3g} of the reports crafted"
    if most < ALPHA:
        return f"{if_so}, {names} still depend on each other: yes (p at most {most:.2g})."
    if test.p_holm < ALPHA:
        return f"{if_so}, {names} still depend on each other: not for sure (p up to {most:.2g})."
    if least < ALPHA:
        return f"{if_so}, {names} may depend on each other unseen (p down to {least:.2g})."
    return f"{if_so}, there is no evidence for {names} either (p at least {least:.2g})."


def _p_words(p_value: float) -> str:
    """Return a p-value with its sign."""
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.4f}"


def _together(table: Table) -> list[str]:
    """Name the combinations whose interval of the odds ratio leaves out 1."""
    names = [column.name for column in table.columns.labels]
    rows = [
        row
        for row in table.rows
        if OTHER_LABEL not in (row[name] for name in names)
        and math.isfinite(row.odds_ratio)
        and math.isfinite(row.odds_ratio_std_error)
    ]
    often = [row for row in rows if row.odds_ratio_interval[0] > 1]
    seldom = [row for row in rows if row.odds_ratio_interval[1] < 1]
    sentences = []
    for found, words, sign in ((often, "more", -1), (seldom, "less", 1)):
        if not found:
            continue
        top = sorted(found, key=lambda row: sign * row.odds_ratio)[:_NAMED]
        named = "; ".join(
            " with ".join(f"“{shortened(row[name], 30)}”" for name in names)
            + f" (odds ratio {row.odds_ratio:.2g}, {_ends(*row.odds_ratio_interval)})"
            for row in top
        )
        more = f"; and {len(found) - len(top)} more" if len(found) > len(top) else ""
        sentences.append(f"Together {words} often than by chance: {named}{more}.")
    return sentences


def _ends(low: float, high: float) -> str:
    """Return an interval of odds ratios; where nothing bounds them above there is no upper end."""
    return f"{low:.2g} to {high:.2g}" if math.isfinite(high) else f"{low:.2g} or more"


def _not_learned(table: Table) -> tuple[str, ...]:
    sentences: list[str] = []
    if table.about.of:
        sentences.append(of_sentence(table.about.of))
    error = typical_error(table)
    if math.isfinite(error) and table.about.more["fit"]["informative"]:
        limit = min(1.0, critical(len(table.rows)) * error)
        sentences.append(limit_sentence(limit, "combination") + (HALVED if limit < 1 else ""))
    if table.about.crafted is not None:
        sentences.append(
            f"If as many as {table.about.crafted:.3g} of the reports were crafted, only the "
            "second intervals hold, and of the test what is said for that share."
        )
    if any(OTHER_LABEL in texts for texts in table.about.more["labels"].values()):
        sentences.append(
            f"{OTHER_LABEL} is everything that is not named, taken together: what goes on inside "
            "it stays unseen."
        )
    sentences.append("Going together is not causing: a third thing may stand behind both.")
    return tuple(sentences)
