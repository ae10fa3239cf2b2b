"""Tables of games."""
