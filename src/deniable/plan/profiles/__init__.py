"""Plans for profiles: mechanisms to compare, the error of a cell, and the collector's work."""
