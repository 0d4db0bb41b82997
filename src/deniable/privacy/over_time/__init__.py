"""Privacy over time: the epsilon of several reports of one value, or of a value that changes."""
