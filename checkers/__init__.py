"""Checkers, which read and score answers: one module a problem, all with the doors of `checkers.doors`."""
