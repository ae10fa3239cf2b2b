"""Running one program that nobody trusts: namespaces, a fresh control group, limits, a filter of system calls."""
