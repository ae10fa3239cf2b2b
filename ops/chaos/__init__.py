"""Faults that a real service meets, each a scenario on both databases: `python -m ops.chaos` (`make chaos`)."""
