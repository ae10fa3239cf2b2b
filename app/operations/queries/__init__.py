"""Queries of operations."""
