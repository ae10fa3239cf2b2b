"""Scoreboards: rows, reveals and awards."""
