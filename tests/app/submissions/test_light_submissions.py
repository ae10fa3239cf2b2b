"""Which submissions are sorted in the event loop: those whose files are few and small, however they are packed."""

from __future__ import annotations

import io

import pytest

from app.core.load import LIGHT
from app.packages.catalog import bundled
from app.packages.zips import zip_bytes
from app.submissions.service.archives import Upload
from app.submissions.service.submission_form import LIGHT_FILES, LIGHT_INFLATED, SubmissionForm


def is_light(*files: bytes) -> bool:
    """Whether a submission of these files, plain ones or archives, is light."""
    return SubmissionForm("comesolo", [Upload(f"{at}.out", io.BytesIO(data)) for at, data in enumerate(files)]).is_light


def test_an_archive_of_a_problem_s_answers_is_light() -> None:
    """The zip that contestants of comesolo send, with an answer for each case, costs no change of threads."""
    folder = bundled()["comesolo"] / "submissions/accepted/reference"
    assert is_light(zip_bytes({path.name: path.read_bytes() for path in folder.rglob("*.out")}))


@pytest.mark.parametrize(
    "files",
    [
        (b"1" * (LIGHT + 1),),
        (b"1" * (LIGHT // 2), b"1" * (LIGHT // 2 + 1)),
        (zip_bytes({f"{at}.out": b"" for at in range(LIGHT_FILES + 1)}),),
        (zip_bytes({f"{at}.out": b"" for at in range(LIGHT_FILES)}), zip_bytes({"01.out": b"1"})),
        (zip_bytes({"01.out": b"1" * (LIGHT_INFLATED + 1)}),),
        (zip_bytes({f"{at}.out": b"1" * (LIGHT_INFLATED // 2) for at in range(3)}),),
    ],
    ids=["large", "large together", "many files", "many files together", "inflates", "inflates together"],
)
def test_many_or_large_files_are_not_light(files: tuple[bytes, ...]) -> None:
    """What takes longer than a large plain answer is sorted in a thread, though a few KB of a zip announce it."""
    assert not is_light(*files)
