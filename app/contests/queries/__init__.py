"""Queries of contests."""
