"""`jurado admin group|organization|person`: the people around a contest."""

from __future__ import annotations

from typing import Annotated

import typer

from app.accounts.commands.imports import DryRun, Encoding, Import, Replace, import_objects, import_params
from app.core.commands.options import AsJson
from app.core.commands.output import examples
from app.core.commands.requests import listing

InContest = Annotated[str, typer.Option("--contest", metavar="ID", help="the contest that brings or shows them")]


def directory_commands(kind: str, noun: str, columns: tuple[str, ...], sample: str) -> typer.Typer:
    """Make the commands of one kind; `sample` names a file of it."""
    program = typer.Typer(no_args_is_help=True, help=f"{kind.capitalize()} of a contest.")

    def list_all(contest: InContest, as_json: AsJson = False) -> None:
        listing(f"contests/{contest}/{kind}", columns, as_json=as_json)

    def import_all(
        file: Import,
        contest: InContest,
        encoding: Encoding = None,
        replace: Replace = False,
        dry_run: DryRun = False,
        as_json: AsJson = False,
    ) -> None:
        path = f"contests/{contest}/{kind}"
        params = import_params(replace=replace, dry_run=dry_run)
        import_objects(path, file, params, as_json=as_json, encoding=encoding)

    list_help = f"List the {kind} of a contest."
    import_help = f"Import {kind} from a file: all of them, or none and a list of what is wrong."
    program.command("list", help=list_help, epilog=examples(f"jurado admin {noun} list --contest finals"))(list_all)
    example = examples(f"jurado admin {noun} import {sample} --contest finals")
    program.command("import", help=import_help, epilog=example)(import_all)
    return program


group = directory_commands("groups", "group", ("id", "name", "icpc_id", "type"), "groups.tsv")
organization = directory_commands(
    "organizations", "organization", ("id", "name", "formal_name", "country"), "organizations.json"
)
person = directory_commands("persons", "person", ("id", "name", "role", "team_ids", "email"), "persons.csv")
