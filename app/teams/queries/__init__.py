"""Queries of teams."""
