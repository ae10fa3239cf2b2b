"""The one list of CLICS collections, which access, feed, export and import of contests follow."""

from __future__ import annotations

from app.accounts.service.viewer import PUBLIC, Viewer
from app.archive.service.package_files import NAMES
from app.contests.schemas import ContestSettings
from app.feed.service import rendering
from app.feed.service.collections import BY_NAME, COLLECTIONS, IN_REFERENCE_ORDER, endpoints


def test_each_collection_comes_after_those_it_refers_to() -> None:
    placed: set[str] = set()
    for each in IN_REFERENCE_ORDER:
        assert each.refers_to <= placed
        placed.add(each.name)
    assert placed == {each.name for each in COLLECTIONS}
    assert len(COLLECTIONS) == len(BY_NAME) == 16


def test_the_feed_tells_of_every_collection_and_ends_with_the_state() -> None:
    looked_at = [*rendering.BEFORE, *rendering.LARGE, *rendering.AFTER]
    assert (*looked_at, rendering.STATE) == rendering.ORDER == tuple(each.name for each in IN_REFERENCE_ORDER)
    assert rendering.STATE == "state"


def test_access_lists_every_collection_and_the_scoreboard() -> None:
    listed = [each.type for each in endpoints(Viewer("judge", "j"), ContestSettings())]
    assert listed == [*(each.name for each in COLLECTIONS), "scoreboard"]


def test_whoever_has_no_account_reads_no_accounts_and_no_property_of_judges() -> None:
    shown = {each.type: set(each.properties) for each in endpoints(PUBLIC, ContestSettings())}
    assert "accounts" not in shown
    for each in COLLECTIONS:
        assert not each.of_judges & shown.get(each.name, set())
        assert not set(each.of_answers) & shown.get(each.name, set())


def test_an_import_reads_what_cannot_be_computed_again() -> None:
    computed = {"contest", "judgement-types", "languages", "judgements", "runs", "state"}
    assert {*NAMES} == {each.name for each in COLLECTIONS} - computed


def test_properties_that_a_collection_names_exist() -> None:
    for each in COLLECTIONS:
        assert each.of_judges <= set(each.model.model_fields), each.name
        assert set(each.files) <= set(each.model.model_fields), each.name
