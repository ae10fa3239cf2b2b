"""`jurado admin group|organization|person`: the people around a contest."""

from __future__ import annotations

from typing import Annotated

import typer

from app.accounts.commands.imports import DryRun, Encoding, Import, Replace, import_objects, import_params
from app.core.commands.options import AsJson
from app.core.commands.registry import command
from app.core.commands.requests import Request, collection, keys

InContest = Annotated[str, typer.Option("--contest", metavar="ID", help="the contest that brings or shows them")]


def add_directory_commands(kind: str, noun: str, columns: str, sample: str) -> None:
    """Add the commands of one kind; `sample` names a file of it."""

    def list_all(contest: InContest) -> Request:
        return collection(f"contests/{contest}/{kind}", keys(columns))

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

    listed, imported = f"admin {noun} list", f"admin {noun} import"
    list_all.__doc__ = f"List the {kind} of a contest.\n\nExamples:\n  jurado {listed} --contest finals"
    import_all.__doc__ = (
        f"Import {kind} from a file: all of them, or none and a list of what is wrong."
        f"\n\nExamples:\n  jurado {imported} {sample} --contest finals"
    )
    command(listed)(list_all)
    command(imported)(import_all)


add_directory_commands("groups", "group", "id name icpc_id type", "groups.tsv")
add_directory_commands("organizations", "organization", "id name formal_name country", "organizations.json")
add_directory_commands("persons", "person", "id name role team_ids email", "persons.csv")
