"""Builds small problem packages in the formats of other judges; `changes` put files over them, None takes one away."""

from __future__ import annotations

from collections.abc import Mapping

from app.packages.zips import zip_bytes

Changes = Mapping[str, str | bytes | None]

OMEGAUP: Mapping[str, str] = {
    "cases/1.in": "1 2\n",
    "cases/1.out": "3\n",
    "cases/2.a.in": "5 5\n",
    "cases/2.a.out": "10\n",
    "cases/2.b.in": "7 5\n",
    "cases/2.b.out": "12\n",
    "testplan": "1 20\n2.a 80\n2.b 0\n",
    "settings.json": '{"Limits": {"TimeLimit": "1s"}, "Validator": {"Name": "token", "GroupScorePolicy": "min"}}\n',
    "statements/es.markdown": (
        "# Descripción\n\nSuma $a$ y $b$.\n\n![Suma](suma.png)\n\n# Ejemplo\n\n"
        "||input\n2 3\n||output\n5\n||description\nEs fácil.\n||input\n0 0\n||output\n0\n||end\n\n# Límites\n"
    ),
    "statements/en.markdown": "# Description\n\nAdd.\n\n||input\n2 3\n||output\n5\n||input\n0 0\n||output\n0\n||end\n",
    "statements/suma.png": "png",
    "solutions/es.markdown": "# Solución\n\nSumar.\n",
    "tests/settings.json": '{"solutions": []}\n',
    "tests/solutions/good.py": "print(sum(map(int, input().split())))\n",
}

CMS: Mapping[str, str] = {
    "task.yaml": "name: sums\ntitle: Sums of two\noutput_only: true\nn_input: 4\nprimary_language: en\n"
    "token_mode: disabled\n",
    "gen/GEN": "# ST: 0\n1 1\n# ST: 40\n2 2 # small\n#COPY: old.txt\n#ST: 60\n3 3\n",
    "gen/generatore.py": "print(1)\n",
    "statement/statement.pdf": "%PDF-1.4",
    "statement/spanish.pdf": "%PDF-1.4 es",
    "att/hint.txt": "Add.\n",
    **{f"input/input{at}.txt": f"{at} {at}\n" for at in range(4)},
    **{f"output/output{at}.txt": f"{2 * at}\n" for at in range(4)},
}


def foreign_files(base: Mapping[str, str | bytes], changes: Changes | None = None) -> dict[str, bytes]:
    """The files of a package with `changes` put over them."""
    present = {name: data for name, data in {**base, **(changes or {})}.items() if data is not None}
    return {name: data if isinstance(data, bytes) else data.encode() for name, data in present.items()}


def foreign_zip(base: Mapping[str, str | bytes], changes: Changes | None = None, top: str = "") -> bytes:
    """A package as a zip, its files below `top`."""
    return zip_bytes({f"{top}{name}": data for name, data in foreign_files(base, changes).items()})
