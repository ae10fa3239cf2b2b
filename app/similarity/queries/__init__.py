"""Queries of similarity."""
