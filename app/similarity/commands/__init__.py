"""Commands of similarity."""
