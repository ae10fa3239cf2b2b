"""API routes of the feature `scoreboard`."""
