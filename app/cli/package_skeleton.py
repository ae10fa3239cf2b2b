"""The package that `jurado package new` begins with: add two numbers, checked token by token."""

from __future__ import annotations

from uuid import uuid4

PROBLEM = """\
problem_format_version: 2025-09
type: [scoring, submit-answer]
name:
  en: {slug}
uuid: {uuid}
version: "0.1"
license: unknown
"""
SETTINGS = """\
# What the package format has no word for; docs/guides tell of every key.
checker: tokens
scoring: {kind: absolute}
answers: {limit: 1048576}
inputs: {limit: 65536}
"""
STATEMENT = """\
Two integers $a$ and $b$ are given ($0 \\le a, b \\le 10^9$). Find their sum.

## Input

One line with $a$ and $b$.

## Answer

One line with $a + b$.
"""
VALIDATOR = '''\
"""Validate an input on standard input: exit code 42 if it is valid, else 43 with one line saying why."""

import re
import sys

data = sys.stdin.buffer.read()
if re.fullmatch(rb"(0|[1-9][0-9]{0,9}) (0|[1-9][0-9]{0,9})\\n", data) and max(map(int, data.split())) <= 10**9:
    sys.exit(42)
print(f"line 1: expected two integers from 0 to 10^9, found {data[:40]!r}", file=sys.stderr)
sys.exit(43)
'''
GENERATOR = '''\
"""Make an input: `generate.py --seed N [most=1000000000]`."""

import argparse
import random

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("params", nargs="*", metavar="KEY=VALUE")
options = parser.parse_args()
params = dict(pair.split("=", 1) for pair in options.params)
draw = random.Random(options.seed)
most = int(params.get("most", 10**9))
print(draw.randint(0, most), draw.randint(0, most))
'''
GROUP = "max_score: 100\nscore_aggregation: sum\n"
RULES = """\
accepted/reference:
  permitted: [AC]
  score: 100
wrong_answer/zero:
  permitted: [WA]
  score: 0
"""
CASES = {"sample/01-small": (2, 3), "secret/02-zeros": (0, 1), "secret/03-large": (10**9, 10**9)}


def skeleton(slug: str) -> dict[str, str]:
    """Give the files of a new package by their paths; every one of them is to be changed."""
    files = {
        "problem.yaml": PROBLEM.format(slug=slug, uuid=uuid4()),
        "jurado.yaml": SETTINGS,
        "statement/problem.en.md": STATEMENT,
        "input_validators/validate.py": VALIDATOR,
        "generators/generate.py": GENERATOR,
        "data/secret/test_group.yaml": GROUP,
        "data/invalid_input/words.in": "one two\n",
        "data/invalid_output/difference.in": "5 2\n",
        "data/invalid_output/difference.ans": "7\n",
        "data/invalid_output/difference.out": "3\n",
        "data/valid_output/spaces.in": "5 2\n",
        "data/valid_output/spaces.ans": "7\n",
        "data/valid_output/spaces.out": " 7\n",
        "submissions/submissions.yaml": RULES,
    }
    for path, (a, b) in CASES.items():
        name = path.rpartition("/")[2]
        files[f"data/{path}.in"] = f"{a} {b}\n"
        files[f"data/{path}.ans"] = f"{a + b}\n"
        files[f"submissions/accepted/reference/{name}.out"] = f"{a + b}\n"
        files[f"submissions/wrong_answer/zero/{name}.out"] = "0\n"
    return files
