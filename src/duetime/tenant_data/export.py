"""*Export* a tenant: a directory with a file of JSON lines for each kind of item.

``export.json`` in the directory has the position, so that a repeat goes on where an earlier call ended.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from duetime import instant
from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.item_kinds import kind_of
from duetime.aws.tenant_items import TenantItems, TenantPauses, as_json
from duetime.clock import Clock
from duetime.errors import OperationFailed
from duetime.ids import new_action_id, tenant
from duetime.model.audit import AuditEntry
from duetime.settings import Settings
from duetime.tenant_data.audit import ended, entry_of
from duetime.tenant_data.report import Report
from duetime.tenant_data.undelivered import UndeliveredOf

STATE_FILE = "export.json"
_FIRST, _NEXT = "actions", {"actions": "jobs", "jobs": ""}
"""The tables in their order; an empty name after the last."""

_OWNER_ONLY, _OWNER_DIRECTORY = 0o600, 0o700
_LEFT = (
    "what is written during the export may be missing: pause the callers for an exact copy",
    "logs, metrics, backups, and events that were already sent",
)


@dataclass(kw_only=True)
class ExportState:
    """Where an export stands: the table and the key after which it goes on, and the files' sizes in bytes."""

    tenant_id: str
    started_at: str
    entry_id: str
    table: str = _FIRST
    cursor: dict[str, Any] | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    items: Counter[str] = field(default_factory=Counter)
    ended_at: str = ""

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read the JSON of the state file."""
        fields = json.loads(written)
        return cls(**{**fields, "items": Counter(fields["items"])})


class Export:
    """One export of a tenant.

    Args:
        settings: the deployment's.
        clock: the present time.
        tenant_id: the tenant.
        directory: receives the files; it is created if it is missing.
        by: the operator, for the audit entry.

    Raises:
        InvalidArgument: the tenant's name is invalid, or the system's.
    """

    def __init__(self, settings: Settings, clock: Clock, tenant_id: str, directory: Path, *, by: str) -> None:
        self._tenant_id, self._directory, self._by = tenant(tenant_id), directory, by
        self._clock = clock
        client = clients.dynamodb()
        self._retention = settings.audit_retention
        self._backends = AwsBackends(settings, clock, client)
        self._pauses = TenantPauses(client, settings.made.jobs_table, self._tenant_id)
        self._tables = {
            "actions": TenantItems(client, settings.made.actions_table, self._tenant_id),
            "jobs": TenantItems(client, settings.made.jobs_table, self._tenant_id),
        }

    def __call__(self, note: Callable[[str], None] = lambda _line: None) -> Report:
        """Export, and return the account.

        Args:
            note: receives a line at each page.

        Raises:
            OperationFailed: it has other files, or the export of another tenant, or a finished one.
            BackendUnavailable: not all was exported; repeat it.
        """
        state, is_resumed = self._begin()
        trail, entry = self._backends.audit_trail, self._entry(state)
        trail.begin(entry)
        while (name := state.table) in _NEXT:
            for page in self._tables[name].pages(state.cursor):
                self._write(state, [(kind_of(name, item), as_json(item)) for item in page.items])
                state.cursor = page.cursor
                state.table = name if page.cursor else _NEXT[name]
                self._save(state)
                note(f"{name}: {sum(state.items.values())} exported")
        self._write(state, list(self._undelivered()))
        self._write(state, [("pauses", as_json(item)) for item in self._pauses.list()])
        state.ended_at = instant.text(self._clock.now())
        trail.end(ended(entry, {"exported": sum(state.items.values())}))
        self._save(state)
        return Report(
            tenant_id=self._tenant_id,
            is_complete=True,
            items=state.items,
            left=_LEFT,
            entry_id=state.entry_id,
            is_resumed=is_resumed,
        )

    def _begin(self) -> tuple[ExportState, bool]:
        self._directory.mkdir(mode=_OWNER_DIRECTORY, parents=True, exist_ok=True)
        path = self._directory / STATE_FILE
        if not path.exists():
            if any(self._directory.iterdir()):
                raise OperationFailed(f"{self._directory} has other files; name an empty or a new directory")
            now = self._clock.now()
            state = ExportState(
                tenant_id=self._tenant_id, started_at=instant.text(now), entry_id=new_action_id(now)
            )
            self._save(state)
            return state, False
        state = ExportState.from_json(path.read_text())
        if state.tenant_id != self._tenant_id or state.ended_at:
            kind = "a finished" if state.ended_at else "an unfinished"
            raise OperationFailed(
                f"{self._directory} has {kind} export of the tenant {state.tenant_id}; name a new directory"
            )
        for file in self._directory.glob("*.jsonl"):  # lines after the last saved position
            os.truncate(file, state.sizes.get(file.stem, 0))
        return state, True

    def _undelivered(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        store = self._backends.undelivered.store
        for thing in UndeliveredOf(store, self._backends.jobs.get, self._tenant_id).list():
            yield "undelivered", json.loads(json.dumps(asdict(thing), default=str))

    def _write(self, state: ExportState, items: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Append items to the files of their kinds."""
        for kind in sorted({kind for kind, _ in items}):
            path = self._directory / f"{kind}.jsonl"
            path.touch(mode=_OWNER_ONLY)
            with path.open("ab") as file:
                mine = [item for of, item in items if of == kind]
                file.writelines(f"{json.dumps(item, ensure_ascii=False)}\n".encode() for item in mine)
                state.sizes[kind] = file.tell()
                state.items[kind] += len(mine)

    def _save(self, state: ExportState) -> None:
        path = self._directory / f"{STATE_FILE}.new"
        path.touch(mode=_OWNER_ONLY)
        path.write_text(json.dumps(vars(state), indent=2))
        path.replace(self._directory / STATE_FILE)

    def _entry(self, state: ExportState) -> AuditEntry:
        return entry_of(
            self._tenant_id,
            "export",
            entry_id=state.entry_id,
            by=self._by,
            at=instant.parse(state.started_at),
            expires_at=instant.parse(state.started_at) + self._retention,
            fields={},
        )
