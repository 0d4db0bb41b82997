"""What experiments of several papers share."""
