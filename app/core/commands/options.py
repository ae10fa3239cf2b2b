"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="print JSON for a program")]
BundledProblem = Annotated[str, typer.Argument(metavar="PROBLEM", help="a bundled problem, such as comesolo")]
Contest = Annotated[str, typer.Argument(metavar="CONTEST", help="the contest's id, such as practice")]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="what to say; - reads it from standard input")]
About = Annotated[str | None, typer.Option("--problem", metavar="PROBLEM", help="the problem it is about: id or label")]
