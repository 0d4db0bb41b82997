"""The shares of several levels and versions of one question as one set of shares.

Levels are chosen by different people. Versions may be answered by the same people: their sample is
shared, as far as epochs overlap, whoever came back (`groups/pool.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.ask.candidates import require_candidates
from deniable.ask.estimate import asked_of, labels_of
from deniable.ask.intervals import lasting_in, reading_of
from deniable.ask.options import Options
from deniable.ask.several import AnyCounts, own_field, parts_of
from deniable.ask.string_sets import has_absent
from deniable.decode import decode
from deniable.decode.reading import Counted, Reading, read
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.groups import Pooled, pool_each, pool_groups
from deniable.groups.likelihood import Supports
from deniable.mechanisms import Candidate, Estimate, mechanism_of
from deniable.mechanisms.base import Floats
from deniable.protocol import Field, Profile, Sets

MOST_JOINT = 256
"""The most answers that are pooled with their covariance; more are pooled one by one."""
MOST_LIKELIHOODS = 4_096
"""The most answers whose likelihoods are multiplied; of more, intervals are normal."""


@dataclass(frozen=True)
class PartShares:
    """The shares of one level of one version.

    Attributes:
        counted: its counts. field: the field as it asks it. labels: its answers.
        shares: unbiased.
        noise: their covariance given the people; only the variances where answers are pooled one
            by one.
        sample: the number that one person's variance is multiplied with: 1 / n where nobody
            reported twice, 0 where errors are of the reporters.
        read: the exact form, where the reports of an answer can be counted.
        lasting: the share of the noise that devices keep.
    """

    counted: Accumulated
    field: Field
    labels: tuple[str, ...]
    shares: Floats
    noise: Floats
    sample: float
    read: Counted | None
    lasting: float

    def covariance(self, f: Floats) -> Floats:
        """Return the covariance (or the variances) of the shares, with the sample's at f."""
        if self.noise.ndim == 1:
            return self.noise + self.sample * f * (1 - f)
        return np.asarray(self.noise + self.sample * (np.diag(f) - np.outer(f, f)))


@dataclass(frozen=True)
class PooledShares:
    """All parts together.

    Attributes:
        parts: those that have the same answers and reports.
        whole: the pooled shares, of the population or of the reporters.
        weights: of each part, as of `Pooled`.
        tests: by what is tested ("versions", "levels of version 2"), the names and the test.
        noise: the noise of the whole: a covariance, or variances.
    """

    parts: tuple[PartShares, ...]
    whole: Pooled
    weights: tuple[Floats, ...]
    tests: Mapping[str, tuple[tuple[str, ...], Pooled]]
    noise: Floats

    @property
    def error(self) -> Floats:
        """One standard deviation of each share."""
        return np.sqrt(np.maximum(self.whole.variance, 1e-300))

    @property
    def sample(self) -> float:
        """The factor of one person's variance in the whole; see `PartShares`."""
        f = np.clip(np.nan_to_num(self.whole.shares), 0, 1)
        noise = self.noise if self.noise.ndim == 1 else self.noise.diagonal()
        known = np.isfinite(self.whole.variance)
        more = float((self.whole.variance - noise)[known].sum())
        return max(0.0, more / max(float((f * (1 - f))[known].sum()), 1e-12))

    @property
    def kept(self) -> Floats:
        """The part of each answer's variance that the same people repeat, from 0 to 1."""
        f = np.clip(np.nan_to_num(self.whole.shares), 0, 1)
        shares = []
        for part in self.parts:
            noise = part.noise if part.noise.ndim == 1 else part.noise.diagonal()
            one = np.maximum(part.counted.n * noise, 1e-12)
            shares.append((part.lasting * one + f * (1 - f)) / (one + f * (1 - f)))
        return np.asarray(np.clip(np.max(shares, axis=0), 0.0, 1.0))

    def moved(self, slopes: Sequence[Sequence[float]], crafted: float) -> list[float]:
        """Return how far a share of crafted reports can move each answer.

        Crafted reports choose their level, and go where one of them counts most: the largest sum
        of (reports) (slope / n) (reach) over all ways to spread them.

        Args:
            slopes: of each part, how far each answer moves if all its reports are crafted.
            crafted: the share of all reports that may be crafted.
        """
        n = np.array([part.counted.n for part in self.parts], dtype=float)
        sums = [np.abs(w).sum(1) if w.ndim == 2 else np.abs(w) for w in self.weights]
        each = np.stack(sums) * np.array(slopes) / n[:, None]
        found = []
        for column in each.T:
            left, shift = crafted * n.sum(), 0.0
            for g in np.argsort(-column):
                some = min(left, n[g])
                shift, left = shift + some * column[g], left - some
            found.append(float(shift))
        return found

    def supports(self) -> list[Supports] | None:
        """Return the binomial numbers of every answer, if all parts are levels that have them."""
        read = [part.read for part in self.parts if part.read is not None]
        one_version = len({part.counted.question.version for part in self.parts}) == 1
        answers = len(self.whole.shares)
        if len(read) < len(self.parts) or not one_version or answers > MOST_LIKELIHOODS:
            return None
        if not np.isfinite(self.whole.shares).all():
            return None
        phi = [one.spread(np.clip(self.whole.shares, 0, 1)) for one in read]
        return [
            Supports(
                np.array([one.reports[v] / p[v] for one, p in zip(read, phi, strict=True)]),
                np.array([one.found.n / p[v] for one, p in zip(read, phi, strict=True)]),
                np.array([one.chances.chance[v] for one in read]),
                np.array([one.chances.gap[v] for one in read]),
            )
            for v in range(answers)
        ]


def shares_of_part(
    counted: Accumulated, own: Field, listed: Sequence[str] | None, options: Options
) -> PartShares:
    """Return the shares of one level of one version.

    Raises:
        InvalidParameter: if the field takes strings and there are no candidates.
    """
    question = counted.question
    mechanism = mechanism_of(own, question.absent)
    absent = has_absent(own.domain, question.absent)
    reading = reading_of(options, question, own, counted.epochs)
    counts = counted.counts[own.name]
    sample = reading.people / max(1, counted.n) if reading.of == "population" else 0.0
    lasting = lasting_in(question, own).ends[1]
    asked: list[Candidate] | None = None
    if _profile(own):
        found: Estimate | None = mechanism.estimate(counts)
    else:
        asked = asked_of(mechanism, require_candidates(question, own, listed), own, absent)
        closed = own.domain.size is not None or isinstance(own.domain, Sets)
        found = _closed(mechanism.estimate(counts, asked)) if closed else None
    if found is None:  # strings: the decoder's errors, which allow for the unlisted
        decoded = decode(mechanism, counts, asked, reading=reading)
        f = np.clip(np.nan_to_num(decoded.frequency), 0, 1)
        noise = np.maximum(decoded.std_error**2 - sample * f * (1 - f), 1e-300)
        shown = (decoded.candidates, decoded.frequency, noise, sample, None, lasting)
        return PartShares(counted, own, *shown)
    labels = found.candidates if _profile(own) else labels_of(found.candidates, own, absent)
    shares = read(found, reading)
    exact = shares if isinstance(shares, Counted) else None
    noise = _noise(
        found, reading, found.frequency, joint=not isinstance(own.domain, Sets | Profile)
    )
    return PartShares(counted, own, labels, found.frequency, noise, sample, exact, lasting)


def _profile(field: Field) -> bool:
    return isinstance(field.domain, Profile)


def _closed(found: Estimate) -> Estimate | None:
    """Return an estimate whose errors are its own; None where a decoder has to widen them."""
    return found if found.chances is not None or found.covariance is not None else None


def _noise(found: Estimate, reading: Reading, at: Floats, *, joint: bool) -> Floats:
    """Return the noise of an estimate, if these were the shares: a covariance, or variances."""
    f = np.clip(np.nan_to_num(at), 0.0, 1.0)
    variance = found.variance
    if found.chances is not None:
        q, gap = found.chances.chance, found.chances.gap
        alone = (q * (1 - q) + f * gap * (1 - gap - 2 * q)) / (max(1, found.n) * gap**2)
        variance = np.maximum(alone + found.chances.shared, 1e-300)
    factor = np.sqrt(reading.factor(f))
    whole = found.covariance
    if not joint or whole is None or f.size > MOST_JOINT or not np.isfinite(whole).all():
        return np.asarray(factor**2 * variance)
    if found.chances is not None and f.sum() > 0:
        r = found.chances.supported(f / f.sum())
        if abs(float(r.sum()) - 1) < 1e-9:  # one symbol per report: multinomial counts
            f = f / f.sum()
            counts = (np.diag(r) - np.outer(r, r)) / (found.n * found.chances.gap[0] ** 2)
            whole = counts - (np.diag(f) - np.outer(f, f)) / found.n
        else:
            scale = np.sqrt(variance / np.maximum(whole.diagonal(), 1e-300))
            whole = whole * np.outer(scale, scale)
    return np.asarray(whole * np.outer(factor, factor))


def pool_shares(
    counted: AnyCounts,
    field: Field,
    listed: Sequence[str] | None,
    options: Options,
    at: Floats | None = None,
) -> PooledShares:
    """Return the shares of levels and versions together, of those with the newest's answers.

    Args:
        counted: of each level and version, the newest last.
        field: the field as the newest asks it.
        listed: strings to test for.
        options: this reads `of`, `people` and `confidence`.
        at: the shares at which variances are evaluated; by default those of all reports together.

    Raises:
        InvalidParameter: if levels or versions cannot be pooled.
    """
    kept = [
        (part, own)
        for part in parts_of(counted)
        if (own := own_field(part.question, field, counted.question)) is not None
    ]
    if len(kept) > 1 and options.interval == "exact":
        raise InvalidParameter(
            "Exact intervals are of one level of one version: of several, likelihoods are pooled.",
            "Leave out --interval exact, or name one: --level NAME, --version N.",
        )
    parts = [shares_of_part(one, own, listed, options) for one, own in kept]
    if len({part.labels for part in parts}) > 1:
        raise InvalidParameter(
            "The levels or versions do not tell the same answers apart.",
            "Name one: --level NAME, --version N.",
        )
    if any(part.noise.ndim == 1 for part in parts):
        parts = [_by_itself(part) for part in parts]
    sizes = np.array([part.counted.n for part in parts], dtype=float)
    f = at
    if f is None:
        known = np.stack([np.isfinite(part.shares) for part in parts])
        shares = np.where(known, np.stack([part.shares for part in parts]), 0.0)
        f = (sizes @ shares) / np.maximum(sizes @ known, 1e-300)
    f = np.clip(np.nan_to_num(f), 0, 1)
    parts = [_at(part, f) for part in parts]
    return _pooled(parts, f, options)


def _by_itself(part: PartShares) -> PartShares:
    return part if part.noise.ndim == 1 else replace(part, noise=part.noise.diagonal().copy())


def _at(part: PartShares, f: Floats) -> PartShares:
    """Return a part with its noise at the shares of all: its own differ from them by chance."""
    if part.read is None:
        return part
    joint = part.noise.ndim == 2
    return replace(part, noise=_noise(part.read.found, part.read.reading, f, joint=joint))


def _pooled(parts: Sequence[PartShares], f: Floats, options: Options) -> PooledShares:
    versions: dict[int, list[PartShares]] = {}
    for part in parts:
        versions.setdefault(part.counted.question.version, []).append(part)
    tests: dict[str, tuple[tuple[str, ...], Pooled]] = {}
    pooled = {}
    for version, each in versions.items():
        pooled[version] = _together([p.shares for p in each], [p.covariance(f) for p in each], each)
        if len(each) > 1:
            names = tuple(part.counted.question.level for part in each)
            tests[f"levels of version {version}"] = (names, pooled[version])
    whole = next(iter(pooled.values()))
    outer: Sequence[Floats | None] = [None]
    if len(pooled) > 1:
        one_person = None if options.people == "new" or options.of == "reporters" else f
        groups = list(pooled.values())
        spreads = [g.variance if g.covariance is None else g.covariance for g in groups]
        common = _between_versions(list(versions.values()))
        whole = _together([g.shares for g in groups], spreads, parts, one_person, common)
        outer = whole.weights
        tests["versions"] = (tuple(map(str, versions)), whole)
    weights = [
        inner if wide is None else wide @ inner if inner.ndim == 2 else wide * inner
        for wide, group in zip(outer, pooled.values(), strict=True)
        for inner in group.weights
    ]
    ordered = [part for each in versions.values() for part in each]
    noise = sum(
        w @ part.noise @ w.T if w.ndim == 2 else w**2 * np.nan_to_num(part.noise)
        for w, part in zip(weights, ordered, strict=True)
    )
    return PooledShares(tuple(ordered), whole, tuple(weights), tests, np.asarray(noise))


def _together(
    shares: Sequence[Floats],
    spreads: Sequence[Floats],
    parts: Sequence[PartShares],
    f: Floats | None = None,
    common: Floats | None = None,
) -> Pooled:
    if spreads[0].ndim == 2:
        sample = None if f is None else np.diag(f) - np.outer(f, f)
        return pool_groups(shares, spreads, sample, common)
    alike = _profile(parts[0].field)
    return pool_each(shares, spreads, None if f is None else f * (1 - f), common, alike=alike)


def common_people(parts: Sequence[Accumulated], *, apart: bool = False) -> Floats:
    """Return c_gh of every two parts: the share of pairs of reports that the same people sent.

    Args:
        parts: the counts of each. Levels of one version are different people.
        apart: nobody is in two of them.
    """
    found = np.zeros((len(parts), len(parts)))
    for g, one in enumerate(parts):
        for h, other in enumerate(parts):
            if not apart and one.question.version != other.question.version:
                found[g, h] = _pairs(one.epochs.values(), other.epochs.values())
    return found


def _pairs(one: Iterable[int], other: Iterable[int]) -> float:
    """Return o_gh / (n_g n_h): of epochs s and t at most min(n_s, n_t) people are in both."""
    n, m = (np.array(list(each), dtype=float) for each in (one, other))
    return float(np.minimum(n[:, None], m[None, :]).sum() / max(1.0, n.sum() * m.sum()))


def _between_versions(versions: Sequence[Sequence[PartShares]]) -> Floats:
    """Return c_gh of every two versions, each with all its levels."""
    totals = [sum((Counter(part.counted.epochs) for part in each), Counter()) for each in versions]
    return np.array([[_pairs(one.values(), other.values()) for other in totals] for one in totals])
