"""Schemas of teams."""
