"""Routes of teams."""
