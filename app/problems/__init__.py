"""Stored problems, their statements and test cases."""
