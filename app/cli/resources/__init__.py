"""Types of what the server sends, one module a resource: each names the properties that commands read."""
