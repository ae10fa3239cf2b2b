"""Scoreboards, history, awards and the reveal."""
