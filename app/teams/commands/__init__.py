"""Commands of teams."""
