"""The few hot loops, compiled with Numba: each has a slow, obvious twin in the tests.

Every kernel releases the GIL, so threads over chunks use every core. Nothing here knows a
mechanism's probabilities: records, words, thresholds and histograms in, integers out.

All of it is internal: public code calls mechanisms.
"""

__all__: list[str] = []
