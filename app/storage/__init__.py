"""Rows and content-addressed files. Queries live here; only the edge commits."""
