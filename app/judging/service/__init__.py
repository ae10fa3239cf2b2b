"""Service of judging."""
