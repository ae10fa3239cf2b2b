"""Games against opponents and between programs."""
