"""Db of core."""
