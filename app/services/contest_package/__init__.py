"""Contest packages: a contest as files, written and read back."""
