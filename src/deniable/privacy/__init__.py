"""Privacy as proof: exact channels by enumeration, and the epsilon of many reports together.

The names exported here need the standard library only; `shuffling` and its parts need SciPy.

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.privacy.channels import (
    Law,
    fresh_channel,
    permanent_channel,
    report_channel,
)
from deniable.privacy.enumeration import (
    Channel,
    Distribution,
    channel,
    enumerate_outputs,
    paths_at_most,
    worst_ratio,
)
from deniable.privacy.over_time.repeated import epsilon_after
from deniable.privacy.over_time.schedules import Schedule
from deniable.protocol.windows import Window

__all__ = [
    "Channel",
    "Distribution",
    "Law",
    "Schedule",
    "Window",
    "channel",
    "enumerate_outputs",
    "epsilon_after",
    "fresh_channel",
    "paths_at_most",
    "permanent_channel",
    "report_channel",
    "worst_ratio",
]
