"""All fields' likelihoods together: distinct patterns of records, and how often each was seen."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.associate.drawn import reported
from deniable.associate.fields import CHUNK, FieldRows, field_rows
from deniable.associate.other import DEFAULT_PROFILE
from deniable.associate.variable import Variable
from deniable.associate.wide_fields import joined, rest_field, wide_field, wide_fields
from deniable.decode.mixture.packed import PackedProduct
from deniable.decode.mixture.packed_factor import PackedFactor
from deniable.decode.mixture.rows import Factor, Product
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable.mechanisms.closed_form import NO_REPORTS
from deniable.mechanisms.packed import PackedAnswers

Patterns = Product | PackedProduct
"""The likelihoods that a joint table is fitted to."""

MOST_CELLS = 2**16
"""Larger tables are refused."""

_DENSE = 2**22
_ALIKE = 1e-11
_ENOUGH = 2**14
_NAMED = 5
_IMAGINED = 50
"""Imagined people of each category, to see whether reports can tell them apart."""


def patterns_of(
    variables: Sequence[Variable],
    *,
    profile: str = DEFAULT_PROFILE,
    chunk: int = CHUNK,
    strict: bool = False,
    spend: bool = False,
) -> Patterns:
    """Return the likelihoods of all variables, a row per distinct pattern of reports.

    Guarantees: the result does not depend on the chunk.

    Cost: 8 bytes per report and category where reports are not grouped, never per cell; of a wide
        field of bits or Bloom bits beside fields that are grouped, or of several such fields, one
        or two bits instead.

    Args:
        variables: two or more.
        profile: of "(other)".
        chunk: the number of reports that are read at once.
        strict: whether categories are refused that only more reports would tell apart.
        spend: let go of the reports of wide fields as soon as they are read, where the list
            `variables` is all that holds them: their places in it take variables without reports,
            which say how reports are made, and no more.

    Raises:
        InvalidParameter: if the variables cannot be analysed together; the message says why.
    """
    check_variables(variables)
    held = variables if spend and isinstance(variables, list) else list(variables)

    def read(variable: Variable) -> FieldRows:
        rows = field_rows(variable, profile=profile, chunk=chunk)
        lines = rows.lines
        _refuse_alike(variable, lines.shape[1], lambda step: lines[:, ::step], strict)
        return rows

    several = _as_bytes(held, read, profile, strict)
    if several is not None:
        return several
    place = wide_field(variables)
    others = [read(variable) for number, variable in enumerate(variables) if number != place]
    if place is None:
        return _product(others, variables[0].n)
    kept = _packed(variables[place], place, others, profile, strict)
    if kept is None:
        return _product([*others[:place], read(variables[place]), *others[place:]], variables[0].n)
    return kept


def _as_bytes(
    held: list[Variable], read: Callable[[Variable], FieldRows], profile: str, strict: bool
) -> Product | None:
    """Return the product with every wide field as bytes; None unless there are two or more.

    Then hardly two reports are alike in all fields, and floats would take 8 bytes per report and
    category of each. Wide fields in `held` have no reports any more.
    """
    wide, n = wide_fields(held), held[0].n
    if len(wide) < 2:
        return None
    factors: list[Factor] = []
    for number, variable in enumerate(held):
        packed = variable.packed(variable.reports) if number in wide else None
        if packed is None:
            factors.append(_expanded(read(variable)))
            continue
        rest = rest_field(variable, packed, profile)
        some = functools.partial(_some_lines, packed, rest)
        _refuse_alike(variable, variable.n, some, strict)
        factors.append(PackedFactor(packed, rest))
        variable.learned.clear()  # it knows the reports, too
        held[number] = replace(variable, reports=variable.reports[:0].copy())
    return Product(tuple(factors), np.broadcast_to(np.float64(1 / n), n), n)


def _packed(
    variable: Variable, place: int, others: Sequence[FieldRows], profile: str, strict: bool
) -> PackedProduct | None:
    """Return a wide field as bytes beside the others; None where that is not possible."""
    wide = variable.packed(variable.reports)
    if wide is None:
        return None
    rest = rest_field(variable, wide, profile)
    found = joined(wide, rest, place, others)
    if found is not None:
        some = functools.partial(_some_lines, wide, rest)
        _refuse_alike(variable, variable.n, some, strict)
    return found


def _some_lines(wide: PackedAnswers, rest: Floats | None, step: int) -> Floats:
    lines = wide.lines(step)
    return lines if rest is None else np.vstack([lines, rest[::step]])


def _product(fields: Sequence[FieldRows], n: int) -> Product:
    """Return the product of fields with a line of floats per category."""
    grouped = _joined(fields, n)
    if grouped is None:
        return Product(
            tuple(_expanded(field) for field in fields), np.broadcast_to(np.float64(1 / n), n), n
        )
    places, weights = grouped
    factors = tuple(np.ascontiguousarray(field.lines[:, place])
                    for field, place in zip(fields, places, strict=True))  # fmt: skip
    return Product(factors, weights / n, n)


def check_variables(variables: Sequence[Variable]) -> None:
    """Refuse variables that cannot be analysed together.

    Raises:
        InvalidParameter: if there are fewer than two, names repeat, people differ, there are no
            reports, or the table would be too large.
    """
    names = [variable.name for variable in variables]
    if len(variables) < 2 or len(set(names)) < len(names):
        raise InvalidParameter(
            f"An association needs two or more different fields. Got {', '.join(names) or 'none'}."
        )
    if len({variable.n for variable in variables}) > 1:
        counted = ", ".join(f"'{variable.name}' {variable.n:,}" for variable in variables)
        raise InvalidParameter(
            f"Every field needs a report of each of the same people. Got reports: {counted}.",
            "Associate fields of one question: only they are reported together.",
        )
    if variables[0].n == 0:
        raise InvalidParameter(NO_REPORTS)
    cells = float(np.prod([float(len(variable.categories)) for variable in variables]))
    if cells > MOST_CELLS:
        raise InvalidParameter(
            f"A table of {cells:,.0f} cells is too large: its covariance alone would need "
            f"{_bytes(8 * cells**2)}. At most {MOST_CELLS:,} cells are possible.",
            "Use fewer candidates per field, or fewer fields at once; the rest goes to '(other)'.",
        )


def _bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            return f"{count:.3g} {unit}"
        count /= 1000
    return ""


def empty_cohorts(variable: Variable) -> int:
    """Return how many cohorts of a field have no reports; 0 where there are no cohorts."""
    cohorts = getattr(variable.mechanism.parameters, "cohorts", 0)
    names = variable.reports.dtype.names or ()
    if not cohorts or "cohort" not in names:
        return 0
    return int(cohorts) - int(np.unique(variable.reports["cohort"]).size)


def _joined(fields: Sequence[FieldRows], n: int) -> tuple[list[NDArray[np.intp]], Floats] | None:
    """Return for each pattern the column in every field, and its number; None if many."""
    sizes = [field.lines.shape[1] for field in fields]
    total = float(np.prod([float(size) for size in sizes]))
    codes = [field.codes for field in fields if field.codes is not None]
    if len(codes) < len(fields) or total > 2**62:
        return None
    keys = np.ravel_multi_index(tuple(codes), sizes)
    if total <= max(_DENSE, 4 * n):
        counts = np.bincount(keys)
        found, weights = np.flatnonzero(counts), counts[counts > 0]
    else:
        found, weights = np.unique(keys, return_counts=True)
        if 2 * found.size > n:
            return None
    return list(np.unravel_index(found, sizes)), weights.astype(np.float64)


def _expanded(field: FieldRows) -> Floats:
    return field.lines if field.codes is None else field.lines[:, field.codes]


def _refuse_alike(
    variable: Variable, columns: int, lines: Callable[[int], Floats], strict: bool
) -> None:
    """Refuse categories whose likelihoods are the same, or sums of each other's, everywhere.

    Those of which there are hardly any reports pass unless `strict`: more would tell them apart.

    Args:
        variable: to name in the message.
        columns: the number of its records.
        lines: from a step s to the likelihoods of every s-th record.
        strict: whether those are refused too.
    """
    step = max(1, columns // _ENOUGH)
    # A part of the records usually shows that all can be told apart.
    if step > 1 and _dependence(lines(step)) is None:
        return
    null = _dependence(lines(1))
    if null is None:
        return
    alike = np.flatnonzero(np.abs(null) > 0.1 * np.abs(null).max())
    unseen = bool(np.all(np.ptp(lines(1)[alike], axis=1) == 0))
    few = variable.n < _IMAGINED * len(variable.categories)
    if not strict and (few or unseen) and _told_apart(variable):
        return
    raise InvalidParameter(
        f"Categories of '{variable.name}' cannot be told apart by its reports: "
        f"{', '.join(_named(variable.categories, alike))}.",
        "Leave out all but one of them, or collect with more bits or cohorts.",
    )


def _told_apart(variable: Variable) -> bool:
    """Tell whether the mechanism tells all categories apart, if enough people held each."""
    rng, categories = np.random.default_rng(0), len(variable.categories)
    codes = np.arange(_IMAGINED * categories) % categories
    return _dependence(field_rows(reported(variable, codes, rng)).lines) is None


def _dependence(lines: Floats) -> Floats | None:
    """Return numbers that sum to 0 and mix the lines to 0; None where there are none."""
    apart = lines[:-1] - lines[-1]
    values, vectors = np.linalg.eigh(apart @ apart.T)
    if values[0] > _ALIKE * values[-1]:
        return None
    return np.append(vectors[:, 0], -vectors[:, 0].sum())


def _named(labels: Sequence[str], places: NDArray[np.intp]) -> Iterator[str]:
    for place in places[:_NAMED]:
        yield repr(labels[place])[:40]
    if places.size > _NAMED:
        yield f"and {places.size - _NAMED} more"
