"""HTTP routes of the puzzles of the day."""
