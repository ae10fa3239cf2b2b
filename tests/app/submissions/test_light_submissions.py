"""Which submissions are sorted in the event loop: those of small plain files."""

from __future__ import annotations

import io

import pytest

from app.core.load import LIGHT
from app.packages.zips import zip_bytes
from app.submissions.service.archives import Upload
from app.submissions.service.submission_form import SubmissionForm


def is_light(*files: bytes) -> bool:
    """Whether a submission of these files, plain ones or archives, is light."""
    return SubmissionForm("comesolo", [Upload(f"{at}.out", io.BytesIO(data)) for at, data in enumerate(files)]).is_light


def test_small_plain_files_are_light() -> None:
    assert is_light(b"1" * (LIGHT // 2), b"1" * (LIGHT // 2))


@pytest.mark.parametrize(
    "files",
    [(b"1" * (LIGHT + 1),), (b"1" * (LIGHT // 2), b"1" * (LIGHT // 2 + 1)), (zip_bytes({"01.out": b"1"}),)],
    ids=["large", "large together", "archive"],
)
def test_large_files_and_archives_are_not_light(files: tuple[bytes, ...]) -> None:
    """A few KB of a zip may take longer than a large plain answer, so they are sorted in a thread."""
    assert not is_light(*files)
