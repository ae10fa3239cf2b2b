"""Searches that only roll forward: greedy, beams, helpers, and the repair of a play."""
