"""Scoreboard."""
