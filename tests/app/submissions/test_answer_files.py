"""Sorting uploaded files to cases, and what a hostile archive may not do."""

from __future__ import annotations

import io
import random
import stat
import struct
import zipfile
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.packages.zips import zip_bytes
from app.submissions.queries.submission_context import OpenCase, file_names
from app.submissions.service.answer_files import (
    LITTER,
    MOST_SUGGESTIONS,
    NEAR,
    UNKNOWN,
    Collected,
    collect,
)
from app.submissions.service.archives import Limits, Upload, UploadRefused

CASES = [OpenCase(1, "01", 100), OpenCase(2, "02", 100), OpenCase(3, "03-big", 100)]
LIMITS = Limits(inflated=1_000_000, files=20, ratio=100)
WIDE = Limits(inflated=1_000_000, files=200, ratio=100)


def sort(
    name: str,
    data: bytes,
    *,
    cases: Sequence[OpenCase] = CASES,
    limits: Limits = LIMITS,
    pattern: str | None = None,
    testcase: str | None = None,
) -> Collected:
    """Collect one upload."""
    return collect([Upload(name, io.BytesIO(data))], cases, file_names(cases, pattern), limits, testcase=testcase)


def taken(found: Collected) -> dict[str, bytes | None]:
    """What was taken, by case."""
    return {case: answer.data for case, answer in found.answers.items()}


@pytest.mark.parametrize("name", ["01.out", "01.ans", "01.txt", "output_01.txt", "deep/down/01.out"])
def test_every_usual_name_is_taken(name: str) -> None:
    """NAME.out, .ans, .txt and output_NAME.txt are NAME's answer, in whatever folder of the archive."""
    assert taken(sort("a.zip", zip_bytes({name: b"1"}))) == {"01": b"1"}


def test_a_contest_may_set_its_own_pattern() -> None:
    """With a pattern of its own, the usual names are unknown."""
    found = sort("a.zip", zip_bytes({"answer-02.dat": b"1", "01.out": b"2"}), pattern="answer-{case}.dat")
    assert taken(found) == {"02": b"1"}
    assert [note["name"] for note in found.notes if note["ignored"]] == ["01.out"]


def test_unknown_names_are_ignored_and_reported_with_the_nearest() -> None:
    """A file no one asked for costs nothing, and its note says which name may have been meant."""
    found = sort("a.zip", zip_bytes({"01.out": b"1", "O2.out": b"2", "__MACOSX/._01.out": b"3", ".DS_Store": b"4"}))
    ignored = {note["name"]: note["ignored"] for note in found.notes if note["ignored"]}
    assert ignored["O2.out"] == {"source": NEAR, "values": {"name": "02.out"}}
    assert ignored["__MACOSX/._01.out"] == ignored[".DS_Store"] == {"source": LITTER, "values": {}}


def test_a_plain_file_goes_to_the_case_in_its_name_or_in_the_form() -> None:
    """A single file is for the case it is named after, or the one `testcase` names."""
    assert taken(sort("02.out", b"7")) == {"02": b"7"}
    assert taken(sort("whatever", b"7", testcase="03-big")) == {"03-big": b"7"}
    assert taken(sort("x", b"7", cases=CASES[:1])) == {"01": b"7"}


def test_an_oversize_answer_rejects_its_case_only() -> None:
    """The others of the archive are taken."""
    assert taken(sort("a.zip", zip_bytes({"01.out": b"1" * 101, "02.out": b"1" * 100}))) == {
        "01": None,
        "02": b"1" * 100,
    }


def encrypted() -> bytes:
    """A zip whose entry says it is encrypted, in both headers."""
    data = bytearray(zip_bytes({"01.out": b"1"}))
    for at in (6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1
    return bytes(data)


def with_link() -> bytes:
    """A zip with a symbolic link."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        entry = zipfile.ZipInfo("01.out")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    return buffer.getvalue()


def lying(said: int) -> bytes:
    """A zip whose headers say another size than the 50,000 bytes the entry inflates to."""
    data = bytearray(zip_bytes({"01.out": bytes(50_000)}))
    struct.pack_into("<I", data, 22, said)
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, said)
    return bytes(data)


REFUSED = {
    "two files for one case": (zip_bytes({"a/01.out": b"1", "b/01.txt": b"2"}), "expected one file for case 01"),
    "encrypted": (encrypted(), "found an encrypted one"),
    "nested by name": (zip_bytes({"01.out": b"1", "more.zip": b"x"}), "an archive inside the archive"),
    "nested by content": (zip_bytes({"01.out": zip_bytes({"x": b"1"})}), "an archive inside the archive"),
    "escaping": (zip_bytes({"../01.out": b"1"}), "found one outside of it"),
    "absolute": (zip_bytes({"/01.out": b"1"}), "found one outside of it"),
    "backslashes": (zip_bytes({"..\\01.out": b"1"}), "found one outside of it"),
    "drive": (zip_bytes({"C:/01.out": b"1"}), "found one outside of it"),
    "symbolic link": (with_link(), "found a symbolic link"),
    "too many files": (
        zip_bytes({f"{at}.out": b"1" for at in range(21)}),
        "expected at most 20 files in all, found 21",
    ),
    "rar": (b"Rar!\x1a\x07\x00junk", "found a rar archive"),
    "7z": (b"7z\xbc\xaf\x27\x1cjunk", "found a 7z archive"),
    "gzip": (b"\x1f\x8b\x08junk", "found a gzip archive"),
    "cut off": (zip_bytes({"01.out": b"1" * 90})[:60], "found a damaged one"),
    "size said too small": (lying(10), "found a damaged one"),
    "empty archive": (zip_bytes({}), "expected files named after test cases, such as 01.out, found an empty archive"),
    "nothing known": (zip_bytes({"x.out": b"1"}), "expected files named after test cases, such as 01.out, found x.out"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_odd_archive_is_refused_whole(name: str) -> None:
    """The sentence says what was expected and what was found."""
    data, sentence = REFUSED[name]
    with pytest.raises(UploadRefused, match=sentence):
        sort("a.zip", data)


def test_bytes_are_counted_as_they_inflate() -> None:
    """A bomb is refused at the limit of bytes or of the ratio, whatever its headers say."""
    cases = [OpenCase(at, f"{at:02}", 10**9) for at in range(20)]
    bomb = zip_bytes({"01.out": bytes(900_000), "02.out": bytes(900_000)})
    with pytest.raises(UploadRefused, match="expected at most 1000000 bytes inside") as refused:
        sort("a.zip", bomb, cases=cases)
    assert refused.value.too_large
    wide = Limits(inflated=10**9, files=20, ratio=100)
    with pytest.raises(UploadRefused, match="more than 100 times its size"):
        sort("a.zip", zip_bytes({"01.out": bytes(3_000_000)}), cases=cases, limits=wide)


def test_an_entry_that_says_it_is_small_does_not_fill_the_memory() -> None:
    """The reader stops one byte past the case's limit, however much the entry would inflate to."""
    assert taken(sort("a.zip", zip_bytes({"01.out": bytes(90_000), "02.out": b"1"}))) == {"01": None, "02": b"1"}


def test_a_wrong_testcase_says_the_nearest() -> None:
    """The form's testcase must exist."""
    with pytest.raises(UploadRefused, match=r"found '03-bog'"):
        sort("x", b"1", testcase="03-bog")


@pytest.mark.parametrize(
    "name",
    ["../../01.out", "..\\..\\01.out", "/etc/01.out", "C:\\01.out", "a\0b/01.out", "a\nb/01.out", "\ud800/01.out"],
)
def test_a_plain_file_under_a_name_that_cannot_be_sent_back_is_refused(name: str) -> None:
    """A judge unpacks what a team sent: no name may lead out of the folder, or break what it is written to."""
    with pytest.raises(UploadRefused, match=r"outside of it|control character"):
        sort(name, b"1")


def test_a_tar_is_told_by_what_is_in_it() -> None:
    """Under whatever name, alone and in an archive: its magic lies behind its first name."""
    data = b"01.out".ljust(257, b"\0") + b"ustar\x0000" + bytes(300)
    with pytest.raises(UploadRefused, match="found a tar archive"):
        sort("01.out", data)
    with pytest.raises(UploadRefused, match="found an archive inside the archive"):
        sort("a.zip", zip_bytes({"01.out": data}), cases=[OpenCase(1, "01", 1000)])


def test_a_name_of_enormous_length_is_refused() -> None:
    """Names are kept with the submission, so they are bounded, alone and in archives."""
    with pytest.raises(UploadRefused, match="at most 255 characters, found 306"):
        sort("x" * 300 + "/01.ou", b"1")
    with pytest.raises(UploadRefused, match="at most 255 characters, found 307") as refused:
        sort("a.zip", zip_bytes({"x" * 300 + "/01.out": b"1"}))
    assert len(str(refused.value)) < 200


def test_an_archive_of_very_many_entries_is_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entry of the directory would become an object: a million of them fill the memory."""
    data = zip_bytes({str(name): b"" for name in range(100)})

    def never(*_: object) -> None:
        raise AssertionError("its directory was read")

    monkeypatch.setattr(zipfile, "ZipFile", never)
    with pytest.raises(UploadRefused, match="at most 20 files in all, found 100") as refused:
        sort("a.zip", data)
    assert refused.value.too_large


def test_only_the_first_few_unknown_names_get_a_suggestion() -> None:
    """Each suggestion compares a name with all there are: thousands of them would keep a core busy."""
    found = sort("a.zip", zip_bytes({f"0{at}.ouut": b"" for at in range(99)} | {"01.out": b"1"}), limits=WIDE)
    meant = [note for note in found.notes if note["ignored"] and "name" in note["ignored"]["values"]]
    assert len(meant) == MOST_SUGGESTIONS


def test_limits_hold_for_all_archives_of_a_request_together() -> None:
    """Many zips are worth no more than one: files, inflated bytes and the ratio are counted over all of them."""
    limits = Limits(inflated=2_500_000, files=20, ratio=500)

    def refusal(*uploads: bytes) -> str:
        sent = [Upload(f"{at}.zip", io.BytesIO(data)) for at, data in enumerate(uploads)]
        cases = [OpenCase(at, f"{at:02}", 10**9) for at in range(40)]
        with pytest.raises(UploadRefused) as refused:
            collect(sent, cases, file_names(cases, None), limits)
        assert refused.value.too_large
        return str(refused.value)

    eleven = zip_bytes({f"x{at}": b"" for at in range(11)})
    assert refusal(eleven, eleven) == "1.zip: expected at most 20 files in all, found 22"
    assert refusal(zip_bytes({f"x{at}": b"" for at in range(20)}), b"1") == (
        "1.zip: expected at most 20 files in all, found 21"
    )
    noise = random.Random(1).randbytes(900_000)
    three = [zip_bytes({f"{at:02}.out": noise}) for at in range(3)]
    assert refusal(*three) == "2.zip: expected at most 2500000 bytes inside, found more"
    zeros = [zip_bytes({f"{at:02}.out": bytes(900_000)}) for at in range(2)]
    assert refusal(*zeros) == "1.zip: inflates to more than 500 times its size"


def test_the_first_hundred_ignored_files_are_named_and_the_others_counted() -> None:
    """A report stays short, however many files an archive brings that no one asked for."""
    files = {f"n{at:03}": b"" for at in range(150)} | {f"z/.{at}": b"" for at in range(30)} | {"01.out": b"1"}
    found = sort("a.zip", zip_bytes(files), limits=WIDE)
    assert [note["name"] for note in found.notes if note["case"]] == ["01.out"]
    ignored = [note for note in found.notes if note["ignored"]]
    assert [note["name"] for note in ignored[:-2]] == [f"n{at:03}" for at in range(100)]
    assert [(note["name"], note["ignored"]) for note in ignored[-2:]] == [
        ("(+30)", {"source": LITTER, "values": {}}),
        ("(+50)", {"source": UNKNOWN, "values": {}}),
    ]


@given(st.binary(max_size=300), st.integers(0, 2**32))
def test_mutated_archives_are_taken_or_refused_and_nothing_else(noise: bytes, seed: int) -> None:
    """Random damage to a good archive never raises anything but UploadRefused."""
    data = bytearray(zip_bytes({"01.out": b"12 34\n" * 10, "02.out": b"1"}))
    rng = random.Random(seed)
    for byte in noise[:8]:
        data[rng.randrange(len(data))] = byte
    del data[rng.randrange(len(data)) + 1 :]
    try:
        found = sort("a.zip", bytes(data))
    except UploadRefused:
        return
    assert found.answers


def test_a_pattern_without_a_case_names_one_file_for_all_of_them() -> None:
    """Alone it may have any name; a second one next to it refuses the upload, and a case may still be named."""
    everything = dict.fromkeys(("01", "02", "03-big"), b"7")
    assert taken(sort("p.csv", b"7", pattern="p.csv")) == taken(sort("mine.csv", b"7", pattern="p.csv")) == everything
    zipped = sort("a.zip", zip_bytes({"deep/p.csv": b"7", "01.out": b"8"}), pattern="p.csv")
    assert taken(zipped) == everything
    assert [note["name"] for note in zipped.notes if note["ignored"]] == ["01.out"]
    assert taken(sort("p.csv", b"7", pattern="p.csv", testcase="02")) == {"02": b"7"}
    assert taken(sort("p.csv", b"7" * 101, pattern="p.csv")) == dict.fromkeys(everything)
    with pytest.raises(UploadRefused, match=r"expected one file for case 01, found a second one next to a/p\.csv"):
        sort("a.zip", zip_bytes({"a/p.csv": b"7", "b/p.csv": b"7"}), pattern="p.csv")
    with pytest.raises(UploadRefused, match=r"such as p\.csv, found mine\.csv"):
        sort("a.zip", zip_bytes({"mine.csv": b"7"}), pattern="p.csv")
