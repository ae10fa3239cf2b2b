"""The organiser's pages: setting a contest up, running it, showing it in a hall, and what it runs on."""
