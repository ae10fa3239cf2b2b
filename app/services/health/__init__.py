"""How the service is: ready or not, what it counts, and which stored files are damaged."""
