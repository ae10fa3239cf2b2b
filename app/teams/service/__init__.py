"""Service of teams."""
