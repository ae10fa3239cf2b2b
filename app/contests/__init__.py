"""Contests: settings, times, participation and limits."""
