"""Pages for people: HTML made on the server, the files they need served from here and from nowhere else."""
