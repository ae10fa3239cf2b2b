"""Queries of problems."""
