"""Routes of submissions."""
