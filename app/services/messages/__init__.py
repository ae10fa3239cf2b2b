"""Clarifications and commentary."""
