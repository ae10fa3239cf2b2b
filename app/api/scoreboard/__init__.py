"""Routes of scoreboards and awards."""
