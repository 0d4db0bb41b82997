"""Charts of a few pixels for the list of questions, as paths: 500 of them must stay small."""

from __future__ import annotations

from markupsafe import Markup

from deniable.results.glance import Glance, Point, rounded

WIDTH, HEIGHT = 100, 28


def small_bars(glance: Glance) -> str:
    """Return the path of an answer's bars: one along the line for yes/no, else columns."""
    if glance.kind == "yes":
        return f"M0 8h{WIDTH * glance.value:.0f}v12H0z"
    if not glance.bars:
        return ""
    most = max(share for _, share in glance.bars) or 1.0
    step = min(20, WIDTH / len(glance.bars))
    heights = [HEIGHT * share / most for _, share in glance.bars]
    return "".join(
        f"M{i * step:.3g} {HEIGHT}v-{height:.0f}h{0.8 * step:.3g}v{height:.0f}z"
        for i, height in enumerate(heights)
    )


def small_bars_words(glance: Glance) -> str:
    """Return the bars in words."""
    return ", ".join(f"{label} {100 * share:.0f}%" for label, share in glance.bars[:12])


def small_trend(glance: Glance) -> tuple[str, str]:
    """Return the paths of the band and of the line over the last epochs; empty for fewer than two.

    Epochs without reports leave a gap in time: places are by epoch.
    """
    points = glance.trend
    if len(points) < 2:
        return "", ""
    ends = [end for p in points for end in (p.value, p.low, p.high) if abs(end) < float("inf")]
    low, high = min(ends), max(ends)
    first, last = points[0].epoch, points[-1].epoch
    x = [WIDTH * (p.epoch - first) / (last - first) for p in points]

    def y(value: float) -> float:
        part = (min(high, max(low, value)) - low) / ((high - low) or 1.0)
        return 2 + (HEIGHT - 4) * (1 - part)

    def path(values: list[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{a:.3g} {y(b):.3g}" for a, b in values)

    upper = list(zip(x, (p.high for p in points), strict=True))
    lower = list(zip(x, (p.low for p in points), strict=True))
    line = path(list(zip(x, (p.value for p in points), strict=True)))
    return path([*upper, *reversed(lower)]) + "z", line


def small_trend_words(glance: Glance) -> str:
    """Return the trend in words: the first and the last epoch that is drawn."""
    first, last = (_point_words(point, glance) for point in (glance.trend[0], glance.trend[-1]))
    return f"{len(glance.trend)} epochs: from {first} to {last}"


def _point_words(point: Point, glance: Glance) -> str:
    return rounded(point.value, point.low, point.high, share=glance.kind != "median")[0]


def small_chart(glance: Glance) -> Markup:
    """Return the bars of an answer as a picture."""
    drawn = Markup('<path d="{}"/>').format(small_bars(glance))
    if glance.kind == "yes":
        drawn = Markup('<path class="rest" d="M0 8h{}v12H0z"/>').format(WIDTH) + drawn
    return _picture("mini", small_bars_words(glance), drawn)


def small_line(glance: Glance) -> Markup:
    """Return the trend of an answer as a picture; nothing for fewer than two epochs."""
    band, line = small_trend(glance)
    if not line:
        return Markup()
    marks = Markup('<path class="band" d="{}"/><path class="line" d="{}"/>').format(band, line)
    return _picture("mini over", small_trend_words(glance), marks)


def _picture(name: str, words: str, marks: Markup) -> Markup:
    start = Markup('<svg class="{}" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img"')
    told = Markup(' aria-label="{0}"><title>{0}</title>').format(words)
    return start.format(name, WIDTH, HEIGHT) + told + marks + Markup("</svg>")
