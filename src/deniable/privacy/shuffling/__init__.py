"""The central (epsilon, delta) of a crowd whose reports are shuffled. Needs SciPy."""
