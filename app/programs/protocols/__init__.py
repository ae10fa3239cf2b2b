"""The protocols that checkers of other judges speak, one module each."""
