"""The rules of a contest: pure functions and frozen dataclasses; numpy only in their quick twins."""
