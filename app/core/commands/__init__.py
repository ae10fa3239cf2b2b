"""Commands of core."""
