"""Service of scoreboard."""
