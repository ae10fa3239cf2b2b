"""Queries of feed."""
