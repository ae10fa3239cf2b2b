"""`jurado admin people`: class lists, and cards with the passwords made for them."""

from __future__ import annotations

from typing import Annotated

import typer

from app.accounts.commands.imports import (
    CardsFile,
    DryRun,
    Encoding,
    Import,
    MakePasswords,
    PasswordFile,
    Passwords,
    RenewPasswords,
    Replace,
    Title,
    import_class_list,
    import_params,
)
from app.core.commands.options import AsJson
from app.core.commands.registry import command


@command("admin people import")
def import_people(
    file: Import,
    contest: Annotated[str | None, typer.Option(metavar="ID", help="let their teams take part there")] = None,
    make_passwords: MakePasswords = False,
    renew_passwords: RenewPasswords = False,
    passwords: PasswordFile = None,
    cards: CardsFile = None,
    title: Title = "Jurado",
    encoding: Encoding = None,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import a class list: all of it, or nothing and a list of what is wrong.

    A file for passwords or cards asks for passwords too.

    Examples:
      jurado admin people import class.csv --dry-run
      jurado admin people import class.csv --contest finals --make-passwords
      jurado admin people import class.csv --contest finals --passwords passwords.csv --cards cards.html
    """
    target = Passwords(passwords, cards, title)
    params = import_params(make_passwords or target.to_files, renew_passwords, replace=replace, dry_run=dry_run)
    query = {**params, "contest_id": contest}
    import_class_list(file, query, target, encoding=encoding, as_json=as_json)
