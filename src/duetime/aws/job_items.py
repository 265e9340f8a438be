"""Jobs as DynamoDB items. Each job has a partition of its own.

=========================  =======================================================================
sort key                   holds
=========================  =======================================================================
``current#definition``     the definition in force
``current#state``          all other fields of `Job`; small, because each claim and settle writes it
``edit#000003#REVISION``   a definition of a registered job that an edit within a version replaced
``former#000003``          a version that has ended
``late#KIND#TIME``         a report of a missed deadline, of a predicted miss, or of a silence
``span#END#START#…``       a period without planned runs
``backfill#ID``            a backfill; see `duetime.ports.backfills`
=========================  =======================================================================

One query reads a job, and one reads its versions. A query may read the two items at different times. Both
have the revision that last wrote the definition; if these differ, one item is old. This module has both;
`duetime.aws.job_history_items` has the items of ended definitions, spans and reports.
"""

from __future__ import annotations

from datetime import datetime

from duetime import instant
from duetime.aws.keyed_items import ItemFields, stored
from duetime.aws.keys import Item, partition
from duetime.errors import UnreadableRow
from duetime.ids import SHARDS, is_job_name
from duetime.model.action import ActionRef
from duetime.model.job import MAINTENANCE_SHARDS, Definition, Job, JobRef
from duetime.ports.job_state import HOLDER, JOB, fields_of, job_ref, to_job
from duetime.ports.keyed_items import UNREADABLE

CURRENT, EDIT, FORMER, REPORT, SPAN = "current#", "edit#", "former#", "late#", "span#"
DEFINITION = CURRENT + "definition"


def job_key(ref: JobRef, name: str) -> Item:
    """Return the key of one of a job's items."""
    return {"pk": {"S": partition(ref.tenant_id, ref.name)}, "sk": {"S": name}}


def job_ref_of(item: Item) -> JobRef:
    """Return the job of an item or an index entry."""
    return job_ref(item["pk"]["S"])


def holder(ref: ActionRef) -> Item:
    """Return an action's reference as an attribute value."""
    return {"S": HOLDER.store(ref)}


def to_state(job: Job) -> Item:
    """Return the state item of a new job."""
    return stored(JOB, fields_of(job))


def to_definition(job: Job) -> Item:
    """Return the item of the current definition."""
    return {
        **job_key(job.ref, DEFINITION),
        "definition": {"S": job.definition.to_json()},
        "defined_in": {"N": str(job.revision)},
    }


def from_items(state: Item, definition: Item) -> Job:
    """Return the job of its two items.

    Raises:
        UnreadableRow: duetime did not write these items.
    """
    try:
        _check_names(state)
        return to_job(ItemFields(JOB, state), Definition.from_json(definition["definition"]["S"]))
    except UNREADABLE as error:
        raise UnreadableRow([state.get("pk"), state.get("sk")], error) from error


def state_alone(state: Item) -> Job:
    """Return the job of its state item, with an empty definition.

    Raises:
        UnreadableRow: as above.
    """
    nothing = Definition(name=job_ref_of(state).name, type="", cadences=())
    return from_items(state, {"definition": {"S": nothing.to_json()}})


def _check_names(state: Item) -> None:
    """Check that the state is of the job of its key: IAM restricts keys alone."""
    ref = job_ref_of(state)
    if not is_job_name(ref.name):
        raise ValueError(f"pk names the job {ref.name!r}")
    if (shard := state["maintenance_shard"]["S"]) not in SHARDS[:MAINTENANCE_SHARDS]:
        raise ValueError(f"maintenance_shard is {shard!r}, which no pass reads")
    for name, text in (("tenant", ref.tenant_id), ("name", ref.name)):
        if state[name]["S"] != text:
            raise ValueError(f"{name} is {state[name]['S']!r}; this job's is {text!r}")


def at(when: datetime) -> Item:
    """Return an instant as an attribute value."""
    return {"S": instant.text(when)}


def read_text(item: Item, name: str) -> str | None:
    """Return the text of an attribute; None without it."""
    return item[name]["S"] if name in item else None


def instant_text(when: datetime | None) -> str:
    """Return the text of an instant; an empty one without it."""
    return "" if when is None else instant.text(when)


def read_instant(text: str | None) -> datetime | None:
    """Return the instant of a text; None without one."""
    return None if text is None else instant.parse(text)
