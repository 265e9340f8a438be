"""Which nominal times have a deadline, and its state."""

from dataclasses import replace

import pytest

from duetime import ids
from duetime.jobs.explain import with_deadline
from duetime.jobs.occurrence_status import Occurrence, OccurrenceStatus
from duetime.model.action import SkipReason
from tests.facts.claim_decisions import HOUR, NAME, NOON, SECOND, job

RUN = ids.occurrence_id(NAME, 3, NOON)
DEFINITION = replace(job().definition, within=3_600)
ENTRY = Occurrence(
    at=NOON,
    local=NOON.replace(tzinfo=None),
    tz="UTC",
    cadences=("Every_1h",),
    version=3,
    account=OccurrenceStatus.PENDING,
    action_id=RUN,
)
SKIPPED = {"account": OccurrenceStatus.SKIPPED}


@pytest.mark.parametrize(
    ("changed", "has_one"),
    [
        ({}, True),
        ({"action_id": None}, True),
        ({"action_id": ids.manual_run_id(NAME, 3, NOON)}, False),
        ({"account": OccurrenceStatus.GAP}, False),
        ({"account": OccurrenceStatus.FORGOTTEN}, False),
        ({"account": OccurrenceStatus.MISSED, "reason": SkipReason.MISSED}, True),
        ({"account": OccurrenceStatus.MISSED, "reason": SkipReason.PAUSED}, True),
        (SKIPPED | {"reason": SkipReason.OVERLAP}, True),
        (SKIPPED | {"reason": SkipReason.PAUSED}, False),
        ({"until": NOON + HOUR, "count": 2}, False),
    ],
)
def test_a_planned_time_that_no_person_excused_has_a_deadline(changed, has_one):
    entry = replace(ENTRY, **changed)
    found = with_deadline(entry, DEFINITION, NOON)
    assert found.deadline_at == (NOON + HOUR if has_one else None)
    assert with_deadline(entry, job().definition, NOON) == entry


@pytest.mark.parametrize(
    ("changed", "now", "at_risk", "state"),
    [
        ({}, NOON + HOUR, (), "open"),
        ({}, NOON + HOUR, (NOON,), "at_risk"),
        ({}, NOON + HOUR, (NOON - HOUR,), "open"),
        ({}, NOON + HOUR + SECOND, (NOON,), "missed"),
        ({"executed_at": NOON + HOUR}, NOON + 2 * HOUR, (NOON,), "met"),
        ({"executed_at": NOON + HOUR + SECOND}, NOON + 2 * HOUR, (), "missed"),
    ],
    ids=str,
)
def test_a_deadline_is_open_until_it_has_passed(changed, now, at_risk, state):
    assert with_deadline(replace(ENTRY, **changed), DEFINITION, now, at_risk).deadline == state
