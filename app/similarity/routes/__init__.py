"""Routes of similarity."""
