"""The commands that run a service and care for its data: serve, init, status, backup, restore, fsck, move."""
