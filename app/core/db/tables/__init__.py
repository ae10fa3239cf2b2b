"""Tables that belong to no feature."""
