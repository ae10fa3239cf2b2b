"""Foundation of all features: database, files, HTTP, pages, command line, logs and metrics."""
