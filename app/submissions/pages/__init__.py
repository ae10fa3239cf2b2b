"""Pages of submissions."""
