"""The rules of a contest: pure functions and frozen dataclasses, standard library only."""
