"""Pages of the feature `scoreboard`."""
