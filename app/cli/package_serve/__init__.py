"""`jurado package serve`: a package alone on a server of its own, brought in again whenever a file of it changes."""
