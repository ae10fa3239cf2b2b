"""Tables of db."""
