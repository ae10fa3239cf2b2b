"""Similarity of answers and sources between teams."""
