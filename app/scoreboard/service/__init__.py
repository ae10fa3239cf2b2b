"""Use cases of the feature `scoreboard`."""
