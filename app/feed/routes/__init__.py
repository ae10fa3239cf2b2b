"""Routes of feed."""
