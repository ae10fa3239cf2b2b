"""SQL queries of the feature `scoreboard`."""
