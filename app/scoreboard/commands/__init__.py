"""Commands of the feature `scoreboard`."""
