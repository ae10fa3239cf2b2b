"""Tables of contests."""
