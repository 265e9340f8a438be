"""docs/protocol.md says what the code does: its tables are read and held against conditions, transitions and guards."""

import re
from pathlib import Path

import pytest

from duetime.action import TRANSITIONS, Status
from duetime.aws import conditions
from duetime.memory.store import MemoryStore
from duetime.testing.contract.specimens import CALLER, EXPIRY, HOUR, NOON, end, running, terms
from tests.model.guards import Guard

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
RUN = running(MemoryStore())
WRITES = {
    "claim": conditions.claim(terms()),
    "take over": conditions.take_over(terms(), RUN),
    "heartbeat": conditions.renew(RUN, NOON),
    "settle": conditions.settle(RUN, end(Status.FAILED, message="because")),
    "settle for retry": conditions.settle(RUN, end(Status.PENDING, message="because")),
    "cancel": conditions.cancel(by=CALLER, at=NOON, expires_at=EXPIRY),
    "ask to cancel": conditions.ask_to_cancel(by=CALLER, at=NOON),
    "reschedule": conditions.reschedule(NOON + HOUR, by=CALLER, at=NOON),
    "redrive": conditions.redrive(NOON + HOUR, "0", by=CALLER, at=NOON),
}
GUARDS_BY_TEXT = {
    text: name for name, text in vars(conditions).items() if name.isupper() and isinstance(text, str)
}


def table(first_column):
    """The rows of the page's table that begins with that column, by their first cell."""
    lines = PAGE.read_text().splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *rest = (cell.strip() for cell in line.strip("|").split(" | "))
        rows[first] = rest
    return rows


def names(cell):
    """What a cell sets in code type."""
    return set(re.findall(r"`(\w+)`", cell))


def test_the_page_tells_every_write_and_no_other():
    assert set(table("write")) == {"schedule", *WRITES}


@pytest.mark.parametrize("write", WRITES)
def test_the_page_names_the_guards_of_a_write_as_the_code_does(write):
    _, condition, *_ = table("write")[write]
    parts = WRITES[write]["ConditionExpression"].split(" AND ")
    assert names(condition) == {GUARDS_BY_TEXT[part] for part in parts}


def test_the_page_names_the_guard_of_the_put_as_the_code_does():
    _, condition, *_ = table("write")["schedule"]
    assert names(condition) == {GUARDS_BY_TEXT[conditions.ROW_IS_ABSENT]}


def test_every_guard_of_the_code_is_on_the_page():
    told = {name for cells in table("write").values() for name in names(cells[1])}
    assert told == set(GUARDS_BY_TEXT.values())


@pytest.mark.parametrize("write", WRITES)
def test_the_page_lists_what_a_write_writes(write):
    _, _, writes, _ = table("write")[write]
    assert names(writes) == _written(WRITES[write])


def test_the_page_tells_the_legal_changes_of_status_and_no_other():
    told = {("pending", "skipped")}
    for status, *_ in table("write").values():
        before, after = status.split(" → ")
        told |= {(before, each) for each in after.split(", ")}
    stays = {("pending", "pending"), ("processing", "processing"), ("none", "pending")}
    assert stays <= told
    assert told - stays == {(before, after) for before in Status for after in TRANSITIONS[before]}
    assert "`pending → skipped` is legal as well" in PAGE.read_text()


def test_the_page_says_what_each_guard_of_the_model_is_for():
    assert set(table("guard")) == set(Guard)


def _written(update):
    """The attributes that an update sets or removes, by their own names."""
    sets, _, removes = update["UpdateExpression"].partition(" REMOVE ")
    targets = re.findall(r"(?:^SET |, )([#\w]+)(?:\[\d+\](?:\.\w+)?)? = ", sets) + re.findall(
        r"[#\w]+", removes
    )
    aliases = update["ExpressionAttributeNames"]
    return {aliases.get(each, each) for each in targets}
