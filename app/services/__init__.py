"""What a viewer can do and see, free of HTTP: queries return typed views, commands typed results."""
