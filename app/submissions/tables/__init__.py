"""Tables of submissions."""
