"""Http of core."""
