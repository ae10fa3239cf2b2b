"""Teams, groups, organizations, persons and class lists."""
