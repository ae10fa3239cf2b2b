"""Ladder of commands."""
