"""What several reports of one value, or of a value that changes, disclose together."""
