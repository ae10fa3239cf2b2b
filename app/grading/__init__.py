"""Judging and boards: answer files read, graded in processes of their own, reference runs, the scoreboard cache."""
