"""Tables of problems."""
