"""The checker `tokens` says what the package format's default output validator says."""

from __future__ import annotations

import re
from itertools import zip_longest

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checkers import exact, tokens
from checkers.doors import Rejected, open_checker
from checkers.tokens import Options
from checkers.tokens.arguments import FLOAT
from checkers.tokens.decimals import LONGEST_NUMBER

SPACE = rb"[ \f\n\r\t\v]+"
OPTIONS = [
    Options(),
    Options(case_sensitive=True),
    Options(space_change_sensitive=True),
    Options(absolute=1e-6),
    Options(relative=1e-2),
    Options(case_sensitive=True, space_change_sensitive=True, absolute=0.0, relative=1e-9),
]


def naive_accepts(found: bytes, expected: bytes, options: Options) -> bool:
    """The slow twin: regular expressions and Python's own numbers."""
    if options.space_change_sensitive and re.findall(SPACE, found) != re.findall(SPACE, expected):
        return False
    if options.space_change_sensitive and (re.match(SPACE, found) is None) != (re.match(SPACE, expected) is None):
        return False
    ours, theirs = (re.findall(rb"[^ \f\n\r\t\v]+", data) for data in (found, expected))
    return all(naive_token(a, b, options) for a, b in zip_longest(ours, theirs, fillvalue=b" "))


def naive_token(found: bytes, expected: bytes, options: Options) -> bool:
    """Compare two tokens; bytes.lower() changes A-Z only."""
    if found == expected or (not options.case_sensitive and found.lower() == expected.lower()):
        return True
    if not options.floats or not is_number(expected) or not is_number(found):
        return False
    return options.close(float(expected), float(found))


def is_number(token: bytes) -> bool:
    return len(token) <= LONGEST_NUMBER and FLOAT.fullmatch(token) is not None


def accepts(found: bytes, expected: bytes, options: Options = tokens.DEFAULT) -> bool:
    try:
        tokens.score_answer(b"", found, expected, options)
    except Rejected:
        return False
    return True


def reason(found: bytes, expected: bytes, *args: str) -> str:
    with pytest.raises(Rejected) as rejected:
        open_checker("tokens", args).score_answer(b"", found, expected)
    return rejected.value.message.text


token = st.one_of(
    st.text("abAB", min_size=1, max_size=20).map(str.encode),
    st.binary(min_size=1, max_size=3),
    st.integers(-(10**20), 10**20).map(lambda number: str(number).encode()),
    st.floats(allow_nan=True).map(lambda number: f"{number!r}".encode()),
    st.decimals(-10, 10, places=7).map(lambda number: str(number).encode()),
    st.sampled_from(
        [b"1.", b".5", b"5.0", b"+.5e0", b".", b"-", b"1e", b"1e+", b"1e5", b"1E5", b"0x1", b"1_0", b"inf"]
    ),
    st.sampled_from([b"1e400", b"1e-400", b"1" * 30, b"0." + b"0" * 40 + b"1", b"9007199254740993", b"0e99999999999"]),
)
spaces = st.text(" \t\n\v\f\r", min_size=1, max_size=12).map(str.encode)
nudge = st.sampled_from([lambda t: t, lambda t: t, bytes.upper, lambda t: t + b"0", lambda t: t + b"1", lambda t: b"x"])


@st.composite
def alike(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two files with mostly equal tokens between unequal white space."""
    words = draw(st.lists(token, max_size=12))
    same_space = draw(st.booleans())
    left, right = [draw(st.sampled_from([b"", b" "]))], [draw(st.sampled_from([b"", b" "]))]
    for word in words:
        gap = draw(spaces)
        left += [draw(nudge)(word), gap]
        right += [word, gap if same_space else draw(spaces)]
    return b"".join(left), b"".join(right)


@given(alike(), st.sampled_from(OPTIONS))
@example((b"abcdefgh ij", b"abcdefghij"), Options())
@example((b"abcdefgh\tij kl", b"abcdefgh ij   kl"), Options())
@example((b"", b""), Options())
@example((b"", b" \n"), Options())
@example((b" ", b""), Options(space_change_sensitive=True))
@example((b"123456789012345678901234567890.5 1", b"123456789012345678901234567890.25 1"), Options(relative=1e-9))
@example((b"1.0000000000000002", b"1"), Options(absolute=2.3e-16))
@example((b"1.0000000000000002", b"1"), Options(absolute=2.1e-16))
@example((b"-0", b"0"), Options(absolute=0.0))
def test_the_kernels_agree_with_their_slow_twin(files: tuple[bytes, bytes], options: Options) -> None:
    found, expected = files
    assert accepts(found, expected, options) == naive_accepts(found, expected, options)


@given(st.binary(max_size=60), st.binary(max_size=60), st.sampled_from(OPTIONS))
def test_no_bytes_bring_anything_but_a_rejection(found: bytes, expected: bytes, options: Options) -> None:
    assert accepts(found, expected, options) == naive_accepts(found, expected, options)
    assert accepts(expected, expected, options)


@given(st.lists(st.sampled_from([b"a", b"bb", b"ccccccc", b"dddddddd", b"e" * 17]), max_size=60), st.data())
def test_tokens_of_all_lengths_are_told_apart_at_all_offsets(words: list[bytes], data: st.DataObject) -> None:
    gaps = [data.draw(spaces) for _ in words]
    found = b"".join(word + gap for word, gap in zip(words, gaps, strict=True))
    expected = b"\n".join(words)
    assert accepts(found, expected)
    if words:
        at = data.draw(st.integers(0, len(words) - 1))
        changed = b"\n".join([*words[:at], words[at] + b"z", *words[at + 1 :]])
        assert not accepts(found, changed)
        assert f"token {at + 1} " in reason(found, changed)


def test_letters_are_equal_in_both_cases_unless_asked_otherwise() -> None:
    assert accepts(b"YES", b"yes\n")
    assert not accepts(b"YES", b"yes", Options(case_sensitive=True))
    assert not accepts(b"[", b"{"), "only A-Z have a lower case"
    assert not accepts("É".encode(), "é".encode()), "and only in ASCII"


def test_a_rejection_names_the_token_its_line_and_not_the_right_one() -> None:
    assert reason(b"1 2\n3 5\n", b"1 2 3 4") == 'token 4 (line 2): expected another token, found "5"'
    assert reason(b"1 2\n", b"1 2 3") == "token 3 (end of file): expected another token, found nothing"
    assert reason(b"1\n2\n3", b"1 2") == 'token 3 (line 3): expected the end of the file, found "3"'
    assert reason(b"\x00", b"1") == 'token 1 (line 1): expected another token, found "\\x00"'
    assert reason(b"1" * 50, b"1").endswith(f'found "{"1" * 40}"... (50 bytes)')


def test_a_number_too_far_away_is_rejected_with_the_tolerance() -> None:
    far = 'token 1 (line 1): expected a number within 0.01 (absolute) or 0.01 (relative) of the right one, found "1.1"'
    assert reason(b"1.1", b"1.0", "float_tolerance", "1e-2") == far
    assert reason(b"one", b"1.0", "float_tolerance", "1e-2").endswith('a decimal number, found "one"')
    assert reason(b"1.5", b"one", "float_tolerance", "1") == 'token 1 (line 1): expected another token, found "1.5"'


def test_changed_white_space_is_named_where_it_counts() -> None:
    text = reason(b"1 2\n", b"1  2\n", "space_change_sensitive")
    assert text == 'white space after token 1 (line 1): expected other white space, found " "'
    assert reason(b"1", b"1\n", "space_change_sensitive").endswith("expected other white space, found none")
    assert reason(b"1 3", b"1 2", "space_change_sensitive") == 'token 2 (line 1): expected another token, found "3"'


def test_the_options_of_the_format_are_read() -> None:
    assert tokens.options([]) == Options()
    assert tokens.options(["case_sensitive", "float_tolerance", "1e-6"]) == Options(True, False, 1e-6, 1e-6)
    both = ["float_absolute_tolerance", "0.5", "space_change_sensitive", "float_relative_tolerance", ".25"]
    assert tokens.options(both) == Options(False, True, 0.5, 0.25)


@pytest.mark.parametrize(
    "args",
    [
        "fuzzy",
        "case_sensitive case_sensitive",
        "float_tolerance",
        "float_tolerance nan",
        "float_tolerance -1",
        "float_tolerance 1e999",
        "float_tolerance 0x1",
        "float_tolerance 1 float_tolerance 1",
        "float_tolerance 1 float_relative_tolerance 1",
        "float_absolute_tolerance 1 float_tolerance 1",
    ],
)
def test_wrong_options_are_refused_and_not_guessed(args: str) -> None:
    with pytest.raises(ValueError, match=r"^tokens: (expected|float_tolerance cannot)"):
        tokens.options(args.split())


def test_without_a_reference_file_it_is_the_judges_fault() -> None:
    for checker in (tokens, exact):
        with pytest.raises(ValueError, match="expected a reference file"):
            checker.score_answer(b"", b"")


def test_a_right_answer_earns_the_full_multiplier() -> None:
    score = open_checker("tokens").score_answer(b"in", b" 1\n", b"1")
    assert (score.raw, score.max_raw, score.multiplier) == (1, 1, 1)


@given(st.text(max_size=30))
def test_an_answer_read_and_written_is_the_same(text: str) -> None:
    for slug in ("tokens", "exact"):
        checker = open_checker(slug)
        answer = checker.read_answer(text.encode(), b"")
        assert checker.read_answer(checker.write_answer(answer).encode(), b"") == answer
