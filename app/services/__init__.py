"""Use cases of a viewer, free of HTTP: queries return typed views, commands typed results."""
