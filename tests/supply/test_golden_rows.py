"""This code reads and finishes the rows that each release froze, and those that it freezes itself."""

import json
import re

import pytest

from tests.supply import golden_rows
from tests.supply.project import ROOT

RELEASES = re.findall(r"^## (\d+\.\d+\.\d+) - ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
ENDS = ["crashing", "failing", "keyed", "nightly", "offloaded" + "x" * 11, "plain"]


@pytest.fixture(scope="module", params=["today", *RELEASES])
def written(request, tmp_path_factory):
    """The rows that a release froze, and those that `make release` would freeze now; a missing file fails."""
    if request.param == "today":
        return golden_rows.read(golden_rows.write("today", folder=tmp_path_factory.mktemp("golden") / "new"))
    return golden_rows.read(golden_rows.FOLDER / f"{request.param}.json")


@pytest.fixture(scope="module", params=["today", *RELEASES])
def reader(request, tmp_path_factory):
    """What the reader of a version needs of rows."""
    if request.param == "today":
        file = golden_rows.write_reader("today", folder=tmp_path_factory.mktemp("reader") / "new")
    else:
        file = golden_rows.FOLDER / f"{request.param}.reader.json"
    return json.loads(file.read_text())


def read_by_this_code(rows, folder):
    moved = folder / "rows.json"
    moved.write_text(json.dumps(rows))
    return json.loads(golden_rows.call(ROOT / "src", "read", moved))


@pytest.mark.long
def test_the_rows_and_messages_of_a_version_are_read_and_finished(written, tmp_path):
    read = read_by_this_code(written, tmp_path)
    assert read["listed"] == written["listed"]
    assert {*written["first_page"], *read["after_cursor"]} == {*written["listed"]}
    assert (read["keyed"], read["definition"]) == (written["keyed"], written["definition"])
    assert written["job_run"] in read["job_runs"]
    assert read["changes"] == []
    assert read["runs"] == ENDS
    assert read["end"] == dict.fromkeys(written["listed"], "executed") | {written["later"]: "cancelled"}


@pytest.mark.long
def test_rows_that_this_code_cannot_read_are_found(written, tmp_path):
    rows = [
        {name: value for name, value in row.items() if name != "fence"}
        for row in written["tables"]["actions"]
    ]
    damaged = {**written, "tables": {**written["tables"], "actions": rows}}
    with pytest.raises(AssertionError, match="UnreadableRow"):
        read_by_this_code(damaged, tmp_path)


@pytest.mark.parametrize("kind", ["row", "state", "definition"])
def test_the_reader_of_a_version_reads_the_items_that_this_code_writes(reader, kind):
    for item in golden_rows.specimens()[kind]:
        assert golden_rows.problems(item, reader[kind]) == []


def test_the_reader_of_a_version_knows_the_words_of_rows(reader):
    assert {name: {*words} for name, words in golden_rows.words().items()} == {
        name: {*words} for name, words in reader["words"].items()
    }


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"fence": None}, "fence is missing"),
        ({"fence": {"S": "1"}}, "fence is S; the reader needs N"),
        ({"expires_at": {"N": "1"}}, "expires_at is N; the reader needs S"),
    ],
    ids=str,
)
def test_an_item_that_the_reader_of_a_version_cannot_read_is_found(reader, change, problem):
    item = {**max(golden_rows.specimens()["row"], key=len), **change}
    changed = {name: value for name, value in item.items() if value is not None}
    assert golden_rows.problems(changed, reader["row"]) == [problem]
