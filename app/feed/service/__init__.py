"""Service of feed."""
