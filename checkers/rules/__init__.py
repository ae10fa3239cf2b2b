"""Rules of the problems that are games too: what their checkers and `games/` share, without compiled code."""
