"""The payload of a request that awaits a second person's confirmation. No worker reads it."""

from __future__ import annotations

from duetime.model.built_in import CONFIRMATION
from duetime.payload import Payload


class ConfirmationRequest(Payload, name=CONFIRMATION):
    """A request that changes nothing before a second person confirms it; see `duetime.api.two_persons`."""

    operation: str
    """The operation's id, such as `cancelActions`."""
    needs: tuple[str, ...]
    """The permissions of which the second person needs one."""
    method: str
    path: str
    """Under the prefix, decoded."""
    body: dict[str, object] | None = None
    etag: str | None = None
    """The state to which it applies: of a job, that which the first person saw."""
    subject: str = ""
    """`Caller.person` of the first person."""
    count: int | None = None
    """How many it would change; None if that is not counted."""
    more: bool = False
    """Whether it may be more."""
