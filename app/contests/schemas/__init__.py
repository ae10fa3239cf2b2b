"""Schemas of contests."""
