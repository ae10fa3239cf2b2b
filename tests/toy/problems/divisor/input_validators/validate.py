"""Validate an input on standard input: exit code 42 if it is valid, otherwise 43 with one line saying why."""

import re
import sys

data = sys.stdin.buffer.read()
if re.fullmatch(rb"[1-9][0-9]{0,6}\n", data) and 2 <= int(data) <= 10**6:
    sys.exit(42)
print(f"line 1: expected one number from 2 to 1000000, found {data[:20]!r}", file=sys.stderr)
sys.exit(43)
