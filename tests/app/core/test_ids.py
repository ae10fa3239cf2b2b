from __future__ import annotations

import pytest

from app.core.db.by_id import as_id, is_number


@pytest.mark.parametrize("text", ["1", "42", "9" * 18])
def test_a_number_is_the_id_of_a_row(text: str) -> None:
    assert (is_number(text), as_id(text)) == (True, int(text))


@pytest.mark.parametrize("text", ["0", "007", "9" * 19, "9" * 5000])
def test_a_number_that_no_row_can_have_is_no_id_but_nobody_elses_either(text: str) -> None:
    assert (is_number(text), as_id(text)) == (True, None)


@pytest.mark.parametrize("text", ["", "a", "1a", " 1", "1\n", "-1", "+1", "1_0", "1e3", "٣", "\uff11", "²"])
def test_what_is_not_written_in_plain_digits_is_no_number(text: str) -> None:
    assert (is_number(text), as_id(text)) == (False, None)
