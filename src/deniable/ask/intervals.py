"""The subject of an answer's intervals, and their correction where people report again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from deniable.ask.options import Options
from deniable.decode.lasting import EVERYTHING, Lasting, lasting_of
from deniable.decode.reading import Reading
from deniable.protocol import Field, Question, Sets

OF_POPULATION = (
    "Intervals are of the population: people like those who take part. People who did not "
    "agree to report are not among them."
)
OF_REPORTERS = (
    "Intervals are of the reporters alone: they leave out that those who reported are a sample."
)


def of_note(of: str) -> str:
    """Return the sentence that says what intervals are of."""
    return OF_REPORTERS if of == "reporters" else OF_POPULATION


def overlap(reports_per_epoch: Iterable[int]) -> float:
    """Return how many times as large a variance is if the same people report in every epoch.

    Model: of what an epoch's reports share with another's, as much is the same as there are
    devices in both, at most min(n_s, n_t). The pooled estimate is the mean of the epochs' weighted
    by their reports, so that of n = sum n_t reports

        Var = v / n * S / n,    S = sum over all pairs of epochs of min(n_s, n_t),

    where v is what one report adds. S / n is 1 for one epoch, and T for T equal ones.

    Guarantees: multiplied with it, variances are never too small, whoever came back.
    """
    counts = sorted((count for count in reports_per_epoch if count > 0), reverse=True)
    if not counts:
        return 1.0
    # Each epoch is the smaller one of the pairs with all larger ones before it, twice, and itself.
    shared = sum(count * (2 * place + 1) for place, count in enumerate(counts))
    return shared / sum(counts)


def reading_of(
    options: Options, question: Question, field: Field, epochs: Mapping[int, int]
) -> Reading:
    """Return how the estimates of a field are read, from all its epochs together.

    Where people report in several epochs they are the same people, as far as anybody knows: the
    error of the sample does not average out. Nor does the part of the noise that is permanent; what
    is fresh in every report does. `options.people` "new" says that nobody came back.
    """
    once = question.repeat == "once" or options.people == "new"
    again = 1.0 if once else overlap(epochs.values())
    lasting = lasting_in(question, field)
    noise = 1 + (again - 1) * lasting.ends[1]
    return Reading(options.of, options.interval, noise=noise, people=again, lasting=lasting)


def lasting_in(question: Question, field: Field) -> Lasting:
    """Return what a device keeps of the noise of a field from epoch to epoch."""
    if question.repeat == "permanent":
        return EVERYTHING
    drawn = isinstance(field.domain, Sets) and not field.parameters.per_member
    return lasting_of(field.parameters, drawn=drawn)
