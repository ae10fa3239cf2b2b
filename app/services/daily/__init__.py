"""The puzzles of the day: which days are open, and their puzzles with what a reader may see of them."""
