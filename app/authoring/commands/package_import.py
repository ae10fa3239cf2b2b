"""`jurado package import`: a package of any judge, written as a folder or brought to the server."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from app.authoring.commands.problems import upload_archive
from app.core.commands import config, output, progress, registry, uploading
from app.core.faults import PackageErrors
from app.packages.names import Format


@registry.command("package import")
def import_package(
    place: Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="a package: its folder, or a zip of it")],
    format_name: Annotated[Format | None, typer.Option("--format", help="default: told by the files")] = None,
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
    how = registry.parameters()
    if to is None and place.is_file():  # the server tells its format, and says how things were mapped
        upload_archive(slug, place, how, name=str(place), format_name=format_name).show(as_json=as_json)
        return
    from app.packages.arrivals import read_place
    from app.packages.model import write_archive_file

    with TemporaryDirectory(prefix="jurado-packed-") as name:
        archive = Path(name) / "package.zip"
        try:
            arrival = read_place(place, Path(name) / "files", slug, format_name)
        except PackageErrors as errors:
            raise output.Failure(f"{place} cannot be imported:\n{progress.all_lines(errors)}", 1) from None
        package = arrival.package
        if not as_json:
            progress.show_faults(package.slug, [fault.as_data() for fault in arrival.broken])
        if to is None:
            write_archive_file(package, archive)
            upload_archive(package.slug, archive, how).show(as_json=as_json)
            return
        folder = to / package.slug
        config.write_new_folder(folder, package.files)
        output.say(f"{folder}: {len(package.files)} files; next: jurado package verify {folder}")
