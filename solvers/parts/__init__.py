"""Parts that several searches share: one rule, one small file."""
