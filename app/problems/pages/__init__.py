"""Pages of problems."""
