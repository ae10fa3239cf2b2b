"""Solvers: one module or folder a problem, all with the doors of `solvers.doors`."""
