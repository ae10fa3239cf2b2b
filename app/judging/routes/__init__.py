"""Routes of judging."""
