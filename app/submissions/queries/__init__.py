"""Queries of submissions."""
