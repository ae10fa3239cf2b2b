"""Commands of submissions."""
