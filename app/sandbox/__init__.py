"""Running one program that no one trusts: namespaces, a fresh control group, limits, a filter of system calls."""
