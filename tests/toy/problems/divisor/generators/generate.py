"""Make an input: `generate.py --seed N [most=1000000]`."""

import argparse
import random

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("params", nargs="*", metavar="KEY=VALUE")
options = parser.parse_args()
params = dict(pair.split("=", 1) for pair in options.params)
print(random.Random(options.seed).randint(2, int(params.get("most", 10**6))))
