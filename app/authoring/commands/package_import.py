"""`jurado package import`: a package of any judge, written as a folder or brought to the server."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from app.authoring.commands.problems import upload_archive, upload_problem
from app.core.commands import config, output, progress, registry, uploading
from app.core.faults import PackageErrors
from app.packages.names import FORMATS

if TYPE_CHECKING:
    from app.packages.arrivals import Arrival
    from app.packages.names import Format


@registry.command("package import")
def import_package(
    place: Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="a package: its folder, or a zip of it")],
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="|".join(FORMATS), help="default: told by the files")
    ] = None,
    to: Annotated[Path | None, typer.Option(metavar="DIR", help="write the package's folder there")] = None,
    slug: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="the problem's id; default: by its name")
    ] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Turn a package of another judge into one of Jurado, and bring it to the server or write it as a folder.

    Warnings say how things were mapped; with any fault nothing is kept and every fault is listed.

    Examples:
      jurado package import problems/comesolo
      jurado package import omegaup.zip --to problems
    """
    uploading.must_exist(place)
    if to is None and place.is_file():  # the server tells its format, and says how things were mapped
        format_known = named_format(format_name)
        how = registry.parameters()
        upload_archive(slug, place, how, name=str(place), format_name=format_known).show(as_json=as_json)
        return
    with TemporaryDirectory(prefix="jurado-packed-") as name:
        work = Path(name)
        arrival = read_foreign(place, work / "files", slug, format_name)
        if not arrival.is_foreign and to is None:
            upload_problem(place).show(as_json=as_json)
            return
        if not arrival.is_foreign:
            raise output.Failure(
                f"{place}: expected a package of another judge, found one of Jurado: --to has nothing to do"
            )
        package = arrival.package
        if not as_json:
            progress.show_faults(package.slug, [fault.as_data() for fault in arrival.broken])
        if to is None:
            from app.packages.model import write_archive_file

            write_archive_file(package, work / "package.zip")
            how = registry.parameters()
            upload_archive(package.slug, work / "package.zip", how).show(as_json=as_json)
            return
        folder = to / package.slug
        config.write_new_folder(folder, package.files)
        output.say(f"{folder}: {len(package.files)} files; next: jurado package verify {folder}")


def read_foreign(place: Path, spool: Path, slug: str | None, format_name: str | None) -> Arrival:
    """Read a package of any judge, a zip into the new file `spool`; raises Failure listing every fault."""
    from app.packages.arrivals import read_place

    try:
        return read_place(place, spool, slug, named_format(format_name))
    except PackageErrors as errors:
        raise output.Failure(f"{place} cannot be imported:\n{progress.all_lines(errors)}", 1) from None


def named_format(name: str | None) -> Format | None:
    """Find a format by its name; raises Failure for an unknown one."""
    known = next((each for each in FORMATS if each == name), None)
    if name is not None and known is None:
        raise output.Failure(f"--format: expected one of {', '.join(FORMATS)}, found {name!r}")
    return known
