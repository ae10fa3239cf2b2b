"""Routes of scoreboard."""
