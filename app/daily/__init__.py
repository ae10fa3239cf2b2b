"""Puzzles of the day."""
