"""Contests: their names, times, settings and states."""
