"""Commands of scoreboard."""
