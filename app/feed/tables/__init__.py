"""Tables of feed."""
