"""Submissions: taking them, reading them, and what became of them."""
