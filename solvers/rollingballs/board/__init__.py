"""The flat board of RollingBalls: cells, rolls, distances and plays."""
