"""Queries of games."""
