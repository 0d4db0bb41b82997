"""deniable plan: errors, detection limits and costs of mechanisms, before collecting."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from deniable.cli.output import IntervalsOf, JsonFlag, OutputFiles, check_names, emit_tables, out
from deniable.cli.values import any_survey
from deniable.errors import InvalidParameter
from deniable.plan import (
    Setting,
    epsilon_needed,
    make_plan,
    of_attributes,
    of_bins,
    of_categories,
    of_strings,
    people_needed,
    plan_comparison,
    plan_reports,
    plan_survey,
    plan_window,
)
from deniable.plan.collection import ALPHABET, LENGTH, known_mechanism
from deniable.plan.comparison import POWER, SHARE
from deniable.plan.shapes import search_shapes
from deniable.protocol import Boolean, Domain, Strings
from deniable.protocol.domain import MAX_CATEGORIES
from deniable.protocol.profile_domain import MAX_ATTRIBUTES
from deniable.results.plan.comparison import comparison_table
from deniable.results.plan.shapes_table import shapes_table
from deniable.results.plan.tables import plan_table, reports_table, survey_table, window_table
from deniable.results.table import Table, Tables

Number = TypeVar("Number", int, float)


def plan(
    people: Annotated[int | None, typer.Option(min=1, help="Who will report.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="The most that one report may spend.")
    ] = None,
    forever: Annotated[
        float | None, typer.Option(help="The most that all reports of a value may spend.")
    ] = None,
    categories: Annotated[
        int | None,
        typer.Option(min=2, max=MAX_CATEGORIES, help="The number of answers, each a name."),
    ] = None,
    numbers: Annotated[
        int | None, typer.Option(min=1, help="The number of bins of numbers; two more lie outside.")
    ] = None,
    yes_no: Annotated[bool, typer.Option("--yes-no", help="The answer is yes or no.")] = False,
    strings: Annotated[bool, typer.Option("--strings", help="The answers are strings.")] = False,
    attributes: Annotated[
        int | None,
        typer.Option(min=2, max=MAX_ATTRIBUTES, help="The number of attributes of a profile."),
    ] = None,
    answers: Annotated[
        int | None, typer.Option(min=2, help="Answers of each attribute; by default 2 (yes or no).")
    ] = None,
    order: Annotated[
        int | None, typer.Option(min=1, help="Attributes of the tables wanted; by default 2.")
    ] = None,
    candidates: Annotated[
        int,
        typer.Option(min=0, help="The number of strings that are listed."),
    ] = 0,
    alphabet: Annotated[
        str | None,
        typer.Option(help="Characters of strings that nobody listed; by default a to z."),
    ] = None,
    length: Annotated[
        int | None, typer.Option(min=1, help="The longest of such strings; by default 20.")
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="With --strings: search k, h and m (of listed strings; also O-RR's symbols), or "
            "how epsilon is divided between n-grams and the whole string.",
        ),
    ] = False,
    mechanism: Annotated[str | None, typer.Option(help="This mechanism only.")] = None,
    error: Annotated[
        float | None,
        typer.Option(help="Wanted: a share of 1% to within plus or minus this, 95 times in 100."),
    ] = None,
    of: IntervalsOf = "population",
    compare: Annotated[
        float | None,
        typer.Option(help="Wanted: to tell two arms apart whose shares differ by this."),
    ] = None,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="With --compare: the share in the first arm.")
    ] = SHARE,
    power: Annotated[
        float, typer.Option(help="With --compare: the probability of finding it.")
    ] = POWER,
    delta: Annotated[
        float | None, typer.Option(help="Also the central epsilon of a shuffled crowd.")
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(min=2, help="Epochs in a row that may spend epsilon together."),
    ] = None,
    reports: Annotated[
        int | None,
        typer.Option(
            min=1, help="Reports to show, where epsilon is for ever and each spends some."
        ),
    ] = None,
    keep: Annotated[
        float | None, typer.Option(help="The share that each report leaves; by default 0.5.")
    ] = None,
    survey: Annotated[
        Path | None, typer.Option(help="Plan a whole survey.", metavar="survey.toml")
    ] = None,
    output: OutputFiles = None,
    json: JsonFlag = False,
) -> None:
    """Say what every suitable mechanism can learn from a number of people at an epsilon.

    With --error, leave out --people or --epsilon: the plan then finds what the error needs. With
    --compare, it says how many people two arms of an experiment need.
    """
    flags = {
        "categories": categories,
        "numbers": numbers,
        "yes-no": yes_no,
        "strings": strings,
        "attributes": attributes,
    }
    given = [name for name, value in flags.items() if value]
    check_names(output)
    if survey is not None:
        if given or epsilon or forever or mechanism or error or window or reports:
            raise InvalidParameter(
                "--survey takes --people and --delta only: the rest stands in the survey."
            )
        table = _plan_survey(survey, people, delta)
        if not json:
            out.print(table.parts["budget"].text(), markup=False)
        emit_tables(Tables([table]), output, json)
        return
    if len(given) != 1:
        raise InvalidParameter(
            "deniable plan needs one of --categories, --numbers, --yes-no, --strings, --attributes "
            "or --survey."
        )
    if candidates and not strings:
        raise InvalidParameter("--candidates belongs to --strings.", "Leave it out.")
    if (answers or order) and not attributes:
        raise InvalidParameter("--answers and --order belong to --attributes.", "Leave them out.")
    if (alphabet or length) and not strings:
        raise InvalidParameter("--alphabet and --length belong to --strings.", "Leave them out.")
    domain = _domain(given[0], categories or attributes, numbers, answers)
    if strings and (alphabet or length or not candidates):
        domain = of_strings(alphabet or ALPHABET, length or LENGTH)
    if compare is not None:
        if epsilon is None or error or delta or window or reports:
            raise InvalidParameter(
                "--compare needs --epsilon, and goes with --people, --share, --power and "
                "--mechanism only."
            )
        both = Setting(people or 100_000, epsilon, domain, forever, listed=candidates)
        told = plan_comparison(both, compare, share=share, power=power, mechanism=mechanism)
        table = comparison_table(both, told, compare, share, power)
        emit_tables(Tables([table]), output, json)
        return
    if search and (not strings or window or reports or delta is not None):
        raise InvalidParameter(
            "--search goes with --strings, and not with --window, --reports or --delta."
        )
    setting = _setting(domain, people, epsilon, forever, candidates, mechanism, error, order, of)
    if search:
        found = search_shapes(setting, mechanism)
        emit_tables(Tables([shapes_table(setting, found)]), output, json)
        return
    if window or reports or keep is not None:
        if delta is not None or (window and (reports or error)):
            raise InvalidParameter(
                "--window goes with --mechanism, and --reports with --keep and --error; neither "
                "goes with the other or with --delta."
            )
        table = _plan_budget(setting, mechanism, error, window, reports, keep)
    else:
        table = plan_table(make_plan(setting, mechanism, error, delta))
    emit_tables(Tables([table]), output, json)


def _domain(kind: str, count: int | None, numbers: int | None, answers: int | None) -> Domain:
    if kind == "attributes":
        return of_attributes(count or 0, answers or 2)
    if kind == "yes-no":
        return Boolean()
    if kind == "strings":
        return Strings()
    return of_categories(count or 0) if kind == "categories" else of_bins(numbers or 0)


def _setting(
    domain: Domain,
    people: int | None,
    epsilon: float | None,
    forever: float | None,
    listed: int,
    mechanism: str | None,
    error: float | None,
    order: int | None,
    of: IntervalsOf,
) -> Setting:
    """Return the setting; people or epsilon, if left out, are those that the error needs."""
    if people is not None and epsilon is not None:
        return Setting(people, epsilon, domain, forever, listed=listed, order=order or 2, of=of)
    if error is None or (people is None and epsilon is None):
        raise InvalidParameter(
            "deniable plan needs --people and --epsilon, or one of them and --error."
        )
    first = 1.0 if forever is None else min(1.0, forever / 2)
    once = first if epsilon is None else epsilon
    start = Setting(people or 10**6, once, domain, forever, listed=listed, order=order or 2, of=of)
    return _solved(start, mechanism, error, people is None)


def _solved(setting: Setting, mechanism: str | None, error: float, by_people: bool) -> Setting:
    """Return the setting with the people, or the epsilon, that the recommended mechanism needs.

    The recommendation may change with the answer: it is asked again until it stays.
    """
    tried: set[str] = set()
    while True:
        name = known_mechanism(mechanism) if mechanism else setting.choices()[0].mechanism
        if name in tried:
            return setting
        tried.add(name)
        if by_people:
            people = _found(people_needed(setting, name, error), "number of people")
            setting = setting.with_people(people)
        else:
            epsilon = _found(epsilon_needed(setting, name, error), "epsilon")
            setting = setting.with_epsilon(epsilon)


def _found(needed: Number | None, what: str) -> Number:
    if needed is None:
        raise InvalidParameter(f"No {what} reaches this error.", "Allow a larger one.")
    return needed


def _plan_budget(
    setting: Setting,
    mechanism: str | None,
    error: float | None,
    window: int | None,
    reports: int | None,
    keep: float | None,
) -> Table:
    """Plan values that change all the time: a budget per window, or one for ever."""
    if window:
        if keep is not None:
            raise InvalidParameter("--keep belongs to --reports.", "Leave it out.")
        return window_table(plan_window(setting, window, mechanism))
    if not reports or mechanism:
        raise InvalidParameter(
            "--keep belongs to --reports, which has a mechanism of its own: a bit per answer."
        )
    return reports_table(plan_reports(setting, reports, 0.5 if keep is None else keep, error))


def _plan_survey(path: Path, people: int | None, delta: float | None) -> Table:
    ready = any_survey(path)
    expected = people or ready.people
    if expected is None:
        raise InvalidParameter("The survey does not say how many people.", "Add --people.")
    return survey_table(plan_survey(ready, expected, path.parent, delta))
