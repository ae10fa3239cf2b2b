"""Queries of archive."""
