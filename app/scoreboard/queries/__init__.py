"""Queries of scoreboard."""
