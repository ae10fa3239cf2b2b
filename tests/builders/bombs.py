"""YAML that is small and costs much: each one must be refused, or be read as the harmless value that it is."""

from __future__ import annotations

from tests.builders.examples import examples

DEEP = 20_000
PRIME = 2**61 - 1
"""All multiples of it have one hash."""

BOMBS: dict[str, str] = {
    "aliases": "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)),
    "an alias of itself": "a: &a [*a]\n",
    "merge keys": "<<: [{a: 1}, {b: 2}]\nc: 3\n",
    "merge keys in each other": "<<: " * 50 + "{a: 1}\n",
    "deep lists": "a: " + "[" * DEEP + "]" * DEEP + "\n",
    "deep maps": "a: " + "{a: " * DEEP + "}" * DEEP + "\n",
    "an endless list": "a: " + "[" * DEEP + "\n",
    "a number of many digits": f"a: {'1' * 100_000}\n",
    "a number of many hexadecimal digits": f"a: 0x{'f' * 100_000}\n",
    "a number to the base 60": "a: !!int 1" + ":1" * 40_000 + "\n",
    "a float of many digits": f"a: 1.{'1' * 100_000}\n",
    "keys of one hash": "a: {" + ", ".join(f"{PRIME * n}: 1" for n in range(1, examples(1_500, 5_000))) + "}\n",
    "a long key": f"? {'k' * 100_000}\n: 1\n",
    "lists as keys": "? [a, b]\n: 1\n",
}
