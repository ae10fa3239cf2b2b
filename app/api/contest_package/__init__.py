"""Routes of contest packages."""
