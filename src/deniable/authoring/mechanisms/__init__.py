"""One file per mechanism: the keys that people may write, and the integers that follow.

Here, and nowhere else, stand the formulas from epsilon to thresholds. No client loads any of it.
"""
