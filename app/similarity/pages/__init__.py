"""Pages of similarity."""
