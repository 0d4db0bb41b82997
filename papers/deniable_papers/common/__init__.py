"""Common parts of the experiments of several papers."""
