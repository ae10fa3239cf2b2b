"""`jurado package serve`: serve one package and import it again when a file changes."""
