"""Service of similarity."""
