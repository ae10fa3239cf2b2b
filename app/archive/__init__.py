"""Contest packages, backup, restore and checks of the stored files."""
