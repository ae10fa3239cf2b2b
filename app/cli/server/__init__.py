"""The commands that run and keep a service: serve, backup, restore, move."""
