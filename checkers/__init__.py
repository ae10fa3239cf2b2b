"""How an answer is read and scored: one module a problem, all with the doors of `checkers.doors`."""
