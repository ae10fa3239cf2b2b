"""Pages of scoreboard."""
