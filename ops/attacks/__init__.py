"""Attacks on a real server over its loopback address: `python -m ops.attacks`."""
