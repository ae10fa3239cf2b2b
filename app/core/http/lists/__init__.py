"""Lists of http."""
