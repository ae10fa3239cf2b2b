"""Problem packages: on disk and in archives, read and verified strictly."""
