"""Jurado: the grading service for answer files."""
