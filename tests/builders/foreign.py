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

KATTIS_LEGACY: Mapping[str, str] = {
    "problem.yaml": (
        "name: Sums\nauthor: Ann Author, Bo Writer and Cy\nsource: A contest\nsource_url: https://contest.example\n"
        "license: cc by-sa\nkeywords: sums easy\nlimits: {memory: 512}\nvalidator_flags: case_sensitive\n"
    ),
    "problem_statement/problem.en.tex": "\\problemname{Sums of Two}\nAdd.\n",
    "problem_statement/problem.sv.tex": "%% plainproblemname: Summor\nAddera.\n",
    "problem_statement/picture.png": "png",
    "data/sample/1.in": "1 1\n",
    "data/sample/1.ans": "2\n",
    "data/secret/01-small.in": "2 2\n",
    "data/secret/01-small.ans": "4\n",
    "data/secret/01-small.desc": "Two twos.\n",
    "data/secret/more/02.in": "3 3\n",
    "data/secret/more/02.ans": "6\n",
    "input_format_validators/validate.py": "import sys\nsys.exit(42)\n",
    "submissions/accepted/good.py": "print(sum(map(int, input().split())))\n",
}

SCORED: Mapping[str, str | None] = {
    "problem.yaml": "name: Sums\ntype: scoring\n",
    "data/testdata.yaml": "on_reject: continue\nrange: 0 100\ngrader_flags: ignore_sample\n",
    "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\n",
    "data/secret/01-small.in": None,
    "data/secret/01-small.ans": None,
    "data/secret/01-small.desc": None,
    "data/secret/more/02.in": None,
    "data/secret/more/02.ans": None,
    "data/secret/one/testdata.yaml": "accept_score: 40\ngrader_flags: min\nrange: 0 40\n",
    "data/secret/one/1.in": "4 4\n",
    "data/secret/one/1.ans": "8\n",
    "data/secret/one/2.in": "5 5\n",
    "data/secret/one/2.ans": "10\n",
    "data/secret/two/testdata.yaml": "accept_score: 20\ngrader_flags: always_accept\n"
    "output_validator_flags: float_tolerance 1e-3\n",
    "data/secret/two/1.in": "6 6\n",
    "data/secret/two/1.ans": "12\n",
    "data/secret/two/b.in": "7 7\n",
    "data/secret/two/b.ans": "14\n",
    "data/secret/two/c.in": "8 8\n",
    "data/secret/two/c.ans": "16\n",
}
"""Changes that make the legacy package one that scores: 40 points for `one`, 20 for each case of `two`."""

POLYGON_XML = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<problem revision="3" short-name="a-plus-b" url="https://polygon.example/p/a-plus-b">
  <names><name language="english" value="A+B"/><name language="russian" value="A и B"/></names>
  <statements>
    <statement charset="UTF-8" language="english" path="statements/english/problem.tex" type="application/x-tex"/>
    <statement charset="UTF-8" language="russian" path="statements/russian/problem.tex" type="application/x-tex"/>
    <statement language="english" path="statements/english/problem.pdf" type="application/pdf"/>
  </statements>
  <judging>
    <testset name="tests">
      <time-limit>1000</time-limit><test-count>4</test-count>
      <input-path-pattern>tests/%02d</input-path-pattern>
      <answer-path-pattern>tests/%02d.a</answer-path-pattern>
      <tests>TESTS</tests>
      <groups>GROUPS</groups>
    </testset>
  </judging>
  <assets>
    <checker name="std::wcmp.cpp" type="testlib"><source path="files/check.cpp" type="cpp.g++17"/></checker>
    <solutions><solution tag="main"><source path="solutions/main.cpp" type="cpp.g++17"/></solution></solutions>
  </assets>
  <tags><tag value="math"/><tag value="math"/></tags>
</problem>
"""
POLYGON_TESTS = """
<test method="manual" sample="true" group="0" points="0"/>
<test method="generated" cmd="gen 1" group="1" points="10"/>
<test method="generated" cmd="gen 2" group="1" points="20"/>
<test method="generated" cmd="gen 3" group="2" points="70"/>
"""
POLYGON_GROUPS = """
<group name="0" points="0" points-policy="complete-group"/>
<group name="1" points-policy="complete-group"><dependencies><dependency group="0"/></dependencies></group>
<group name="2" points-policy="each-test"><dependencies><dependency group="1"/></dependencies></group>
"""


def polygon_xml(tests: str = POLYGON_TESTS, groups: str = POLYGON_GROUPS) -> str:
    """Build problem.xml with these tests and groups."""
    return POLYGON_XML.replace("TESTS", tests).replace("GROUPS", groups)


POLYGON: Mapping[str, str] = {
    "problem.xml": polygon_xml(),
    "files/check.cpp": '#include "testlib.h"\n',
    "files/testlib.h": "//\n",
    "solutions/main.cpp": "int main() {}\n",
    "statements/english/problem.tex": "Add.\n",
    "statements/english/problem.pdf": "%PDF-1.4",
    "statements/russian/problem.tex": "Сложите.\n",
    "statements/russian/sum.png": "png",
    "check.exe": "MZ",
    **{f"tests/{number:02}": f"{number} 1\r\n" for number in range(1, 5)},
    **{f"tests/{number:02}.a": f"{number + 1}\r\n" for number in range(1, 5)},
}


def foreign_files(base: Mapping[str, str | bytes], changes: Changes | None = None) -> dict[str, bytes]:
    """The files of a package with `changes` put over them."""
    present = {name: data for name, data in {**base, **(changes or {})}.items() if data is not None}
    return {name: data if isinstance(data, bytes) else data.encode() for name, data in present.items()}


def foreign_zip(base: Mapping[str, str | bytes], changes: Changes | None = None, top: str = "") -> bytes:
    """A package as a zip, its files below `top`."""
    return zip_bytes({f"{top}{name}": data for name, data in foreign_files(base, changes).items()})
