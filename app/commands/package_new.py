"""`jurado package new`: asks what the problem is like, or takes flags, and writes a whole package to be changed.

- `jurado api`: any request to the server's API, for what has no command of its own.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import typer

from app.contests.commands.contest_settings import setting
from app.core.commands import config, registry
from app.core.commands.client import Body, Client, Param
from app.core.commands.output import Failure, person_at_stdin, read_file, report, say, write_json
from app.packages.files import LONGEST_ID, SLUG
from app.packages.skeletons.choices import (
    KINDS,
    SCORINGS,
    CheckerKind,
    Choices,
    Kind,
    Scoring,
    checkers_for,
    default_checker,
    faults_of,
)

Word = TypeVar("Word", bound=str)
LONGEST_NUMBER = 10

SCORING_MEANINGS: dict[Scoring, str] = {
    "points": "each case has points; an answer gets all, some or none",
    "minimise": "relative: BEST / yours of a case's points; smaller is better",
    "maximise": "relative: yours / BEST of a case's points; larger is better",
    "rank": "by the number of teams that are better",
    "pass-fail": "all cases right, or nothing",
}
CHECKER_MEANINGS: dict[CheckerKind, str] = {
    "python": "your own, a function in Python",
    "c++": "your own, in C++ with testlib",
    "tokens": "the expected words, whatever the white space",
    "exact": "the expected bytes",
    "floats": "the expected words, numbers within 1e-6",
    "lines": "the expected words line by line",
    "unordered": "the expected lines in any order",
    "metric": "a table of predictions: accuracy, root mean squared error",
}


KIND_MEANINGS: dict[Kind, str] = {
    "right-or-wrong": "an answer is the expected one, or wrong",
    "partial": "your checker gives an answer a share of the points",
    "optimization": "answers are compared with the best one",
    "prediction": "a table of predictions, compared with the truth",
}


@registry.command("package new")
def new(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="named by the problem's id: lowercase letters, digits")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="the problem's title; default: its id")] = None,
    language: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="of a statement, such as es; may be repeated; default: en")
    ] = None,
    kind: Annotated[
        Kind | None, typer.Option(help="what --scoring and --checker default to; default: right-or-wrong")
    ] = None,
    scoring: Annotated[Scoring | None, typer.Option(help="how answers get points; default: by --kind")] = None,
    checker: Annotated[
        CheckerKind | None, typer.Option(help="what checks answers; default: by --kind and --scoring")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(metavar="POINTS,...", help="points of each group of cases; default: 100, one group")
    ] = None,
    final: Annotated[
        int | None, typer.Option(metavar="POINTS", help="a group that decides after the contest; default: none")
    ] = None,
    author: Annotated[str | None, typer.Option(metavar="NAME", help="for the credits")] = None,
    empty: Annotated[bool, typer.Option("--empty", help="only what a package must have, without an example")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="ask nothing: defaults for all that is not given")] = False,
    as_json: registry.AsJson = False,
) -> None:
    """Create a package: a small, complete example problem of the kind you want, to be changed into yours.

    It verifies at once and has a statement, a checker, an input validator, a generator, a solver, test cases with
    answers, and example submissions. With --empty there is no example: add test cases to data/secret. On a terminal
    the command asks for what is not given.

    Examples:
      jurado package new mysum
      jurado package new seating --kind optimization --empty --yes
      jurado package new tour --scoring minimise --checker python --title 'Short tours'
      jurado package new guess --scoring rank --checker metric --groups 50 --final 50 --yes
    """
    asks = person_at_stdin() and not yes
    if folder is None and not asks:
        raise Failure("DIR: expected the folder of the new package, found nothing")
    folder = folder or Path(ask("Folder of the new package, named by the problem's id", None))
    slug = check_folder(folder)

    def wanted(given: str | None, question: str, default: str) -> str:
        """Give an option, or what the person says where one is asked, or the default."""
        return given if given is not None else ask(question, default) if asks else default

    title = wanted(title or None, "Title", slug.capitalize())
    languages = tuple(language or words(wanted(None, "Languages of the statement, such as en,es", "en")))
    scoring, checker = chosen(kind, scoring, checker, asks=asks)
    points = words(wanted(groups or None, "Points of the groups of test cases, such as 30,70", "100"))
    if final is None:
        last = wanted(None, "Points of a group that decides after the contest, 0 for none", "0")
        final = whole(last, "--final") or None
    choices = Choices(
        title=title,
        scoring=scoring,
        checker=checker,
        languages=languages,
        groups=tuple(whole(word, "--groups") for word in points),
        final=final,
        author=wanted(author, "Author", ""),
        empty=empty,
    )
    if faults := faults_of(choices):
        raise Failure("\n".join(faults))
    from app.packages.skeletons.writing import skeleton

    files = skeleton(slug, choices)
    config.write_new_folder(folder, files)
    report(summary(folder, choices, len(files)), {"folder": str(folder), "files": sorted(files)}, as_json=as_json)


def check_folder(folder: Path) -> str:
    """Give the slug that a folder's name is; raises Failure for a name that is none, and for a folder that exists."""
    name = folder.resolve().name
    if not SLUG.fullmatch(name):
        expected = f"a folder named by lowercase letters and digits, at most {LONGEST_ID}"
        raise Failure(f"{folder}: expected {expected}, found {name!r}")
    if folder.exists():
        raise Failure(f"{folder}: expected a folder that is not there yet, found one")
    return name


def chosen(
    kind: Kind | None, scoring: Scoring | None, checker: CheckerKind | None, *, asks: bool
) -> tuple[Scoring, CheckerKind]:
    """Give the scoring and the checker: as given, as the person says where one is asked, else those of the kind."""
    if asks and kind is None and scoring is None and checker is None:
        kind = choose("What kind of problem is it?", "Kind", KIND_MEANINGS, list(KINDS), "right-or-wrong")
    usual_scoring, usual = KINDS[kind or "right-or-wrong"]
    if scoring is None and asks:
        scoring = choose("How do answers get points?", "Scoring", SCORING_MEANINGS, SCORINGS, usual_scoring)
    scoring = scoring or usual_scoring
    usual = usual if usual in checkers_for(scoring) else default_checker(scoring)
    if checker is None and asks:
        checker = choose("What checks answers?", "Checker", CHECKER_MEANINGS, checkers_for(scoring), usual)
    return scoring, checker or usual


def words(text: str) -> tuple[str, ...]:
    """Split at commas and spaces."""
    return tuple(text.replace(",", " ").split())


def ask(question: str, default: str | None) -> str:
    """Ask the person at the terminal; an empty answer is the default."""
    return str(typer.prompt(question, default=default, show_default=bool(default), err=True)).strip()


def choose(question: str, name: str, meanings: Mapping[Word, str], offered: Sequence[Word], default: Word) -> Word:
    """Ask for one of several words, by the word or its number in the list; asks again for anything else."""
    say(question)
    for number, word in enumerate(offered, start=1):
        say(f"  {number}  {word:<10} {meanings[word]}")
    while True:
        answer = ask(name, default)
        for number, word in enumerate(offered, start=1):
            if answer in (word, str(number)):
                return word
        say(f"expected one of {', '.join(offered)}, or a number from 1 to {len(offered)}, found {answer!r}")


def whole(text: str, option: str) -> int:
    """Read a whole number; raises Failure."""
    if not (text.strip().isascii() and text.strip().isdigit() and len(text) < LONGEST_NUMBER):
        raise Failure(f"{option}: expected whole numbers of points, found {text!r}")
    return int(text)


def summary(folder: Path, choices: Choices, files: int) -> str:
    """Say what was made, and how to go on."""
    if choices.empty:
        lines = (
            f"  {folder / 'statement'}: write the statement",
            f"  {folder / 'data' / 'secret'}: add NAME.in and NAME.ans",
            f"  {folder / 'submissions' / 'accepted'}: add a solution, or its answer files",
        )
        return "\n".join(
            (f"{folder}: {files} files without an example. Next:", *lines, f"  jurado package verify {folder}")
        )
    return "\n".join(
        (
            f"{folder}: {files} files that verify as they are: scoring {choices.scoring}, checker {choices.checker}",
            f"  {folder / 'README.md'} says which file does what. Next:",
            f"  jurado package verify {folder}",
            f"  jurado package serve {folder}",
        )
    )


TYPES = {".json": "application/json", ".zip": "application/zip", ".csv": "text/csv", ".tsv": "text/tsv"}
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@registry.command("api")
def api(
    method: Annotated[Method, typer.Argument(case_sensitive=False, help="the method of the request")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="below /api; or from the server's root, with a / first")],
    fields: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="JSON or plain text, as the body or the query")
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="send this file as the body; - is standard input")
    ] = None,
) -> None:
    """Send a request to the API and print its reply; the page /docs lists all operations.

    Fields are the query of a GET, a DELETE or a request with --input, and else the JSON body. JSON replies are printed
    on one line, and other files as they are.

    Examples:
      jurado api GET contests/finals/problems
      jurado api GET contests/finals/scoreboard public=true
      jurado api PATCH contests/finals name='The finals' open_to_all=false
      jurado api POST problems id=mysum --input mysum.zip
    """
    given = dict(setting(text) for text in fields or [])
    target = path if path.startswith("/") else f"/api/{path}"
    if method in {"GET", "DELETE"} or source is not None:
        params: dict[str, Param] = {name: query_text(name, value) for name, value in given.items()}
        body: Body = {} if source is None else {"content": read_file(source, "input"), "headers": content_type(source)}
        document = None
    else:
        params, body, document = {}, {}, given or None
    with Client.open() as client:
        reply = client.request(method, target, json=document, params=params, **body)
    if reply.content and reply.headers.get("content-type", "").startswith("application/json"):
        write_json(reply.json())
    else:
        sys.stdout.buffer.write(reply.content)


def query_text(name: str, value: object) -> Param:
    """Check that a field can be in a query."""
    if isinstance(value, str | int | float | bool):
        return value
    raise Failure(f"{name}: expected a text, a number, true or false in a query, found {value!r}")


def content_type(source: Path) -> dict[str, str]:
    """Give the type of a file by its name; JSON for standard input."""
    default = "application/json" if str(source) == "-" else "application/octet-stream"
    return {"Content-Type": TYPES.get(source.suffix.lower(), default)}
