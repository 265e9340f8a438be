"""This code reads and finishes the rows of each release, also where the clone lacks the release's commit."""

import json
from dataclasses import replace

import pytest

from duetime.api.openapi.document import VERSION
from duetime.aws.items import from_item, to_item
from duetime.memory.store import MemoryStore
from duetime.model.action import Ending, SkipReason, Status
from duetime.testing.contract.specimens import fresh
from tests.supply import golden_rows

SKIPPED = replace(fresh(MemoryStore()), status=Status.SKIPPED, due_shard="")

FILES = sorted(file for file in golden_rows.FOLDER.glob("[0-9]*.json") if ".reader" not in file.name)


def test_each_release_has_golden_rows():
    assert VERSION in {file.name.removesuffix(".json") for file in FILES}, (
        f"python -m tests.supply.golden_rows {VERSION}"
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_rows_and_messages_of_a_release_are_read_and_finished(file, tmp_path):
    written = golden_rows.read(file)
    moved = tmp_path / "rows.json"
    moved.write_text(json.dumps(written))
    read = json.loads(golden_rows.call(golden_rows.ROOT / "src", "read", moved))
    assert read["listed"] == written["listed"]
    assert {*written["first_page"], *read["after_cursor"]} == {*written["listed"]}
    assert (read["keyed"], read["definition"]) == (written["keyed"], written["definition"])
    assert written["job_run"] in read["job_runs"]
    assert read["changes"] == []
    assert read["runs"] == sorted(
        ["crashing", "failing", "keyed", "nightly", "offloaded" + "x" * 11, "plain"]
    )
    ends = dict.fromkeys(written["listed"], "executed") | {written["later"]: "cancelled"}
    assert read["end"] == ends


READERS = sorted(golden_rows.FOLDER.glob("*.reader.json"))


@pytest.mark.parametrize("file", READERS, ids=lambda file: file.name)
@pytest.mark.parametrize("kind", ["row", "state", "definition"])
def test_the_reader_of_the_last_release_reads_the_items_that_this_code_writes(file, kind):
    reader = json.loads(file.read_text())[kind]
    for item in golden_rows.specimens()[kind]:
        types = {name: next(iter(value)) for name, value in item.items()}
        assert reader["needed"].items() <= types.items()
        assert {name: types[name] for name in reader["types"] if name in types}.items() <= reader[
            "types"
        ].items()


@pytest.mark.parametrize("file", READERS, ids=lambda file: file.name)
def test_the_reader_of_the_last_release_knows_the_words_of_rows(file):
    known = json.loads(file.read_text())["words"]
    assert {*Status} == {*known["status"]}
    assert {*Ending} == {*known["ending"]}
    skipped = (replace(SKIPPED, skip_reason=reason) for reason in SkipReason)
    written = [to_item(row)["skip_reason"]["S"] for row in skipped if "skip_reason" in to_item(row)]
    assert {*written} == {*known["skip_reason"]}


@pytest.mark.parametrize("reason", SkipReason)
def test_each_reason_of_a_skip_is_read_as_it_was_written(reason):
    unmet = "its predecessor failed" if reason is SkipReason.PREDECESSOR else None
    row = replace(SKIPPED, skip_reason=reason, unmet=unmet)
    assert from_item(to_item(row)) == row


def test_the_check_rejects_an_item_without_a_needed_attribute():
    needed = json.loads((golden_rows.FOLDER / "0.1.0.reader.json").read_text())["row"]["needed"]
    assert {"type", "status", "due_at", "gen", "fence"} <= {*needed}
