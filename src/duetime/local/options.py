"""The options of a local cloud."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from duetime.api.authenticator import check_access
from duetime.errors import SettingsError
from duetime.ids import SYSTEM_TENANT
from duetime.local.notifications import everything_to
from duetime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """The options of a local cloud.

    Attributes:
        settings: the deployment's settings; names, queues and ARNs are filled in at the start. All types have
            metrics, which cost nothing here.
        port: the TCP port on this machine; 0 takes any free one.
        concurrency: how many handlers run at once.
        message_doubles: the probability that a message comes twice, as SQS may deliver it.
        stop_within: how long a stop waits for running handlers.
        mail_to: send every notification of the tenants ``acme`` and ``system`` to this address; empty:
            follow their preferences.
        setup: called once before the app is deployed, when boto3 already reaches moto. It creates the
            handlers' own tables, queues and topics; duetime's tables are then on moto, too. An error in it
            ends the start.
        data: the folder whose file outlasts the process; None: it is gone at the end. A start continues
            with the actions and jobs that it finds there.

    Raises:
        InvalidArgument: `mail_to` is no mail address.
        SettingsError: a role has an unknown permission, or an identity an invalid tenant; or both `setup` and
            `data` are given.
    """

    settings: Settings = field(default_factory=Settings)
    port: int = 0
    concurrency: int = 20
    message_doubles: float = 0.0
    stop_within: timedelta = timedelta(seconds=10)
    mail_to: str = ""
    setup: Callable[[], object] | None = None
    data: Path | None = None

    def __post_init__(self) -> None:
        check_access(self.settings)
        if self.setup is not None and self.data is not None:
            problem = "data keeps duetime's tables in a file, and setup or a target has them on moto"
            raise SettingsError([f"{problem}; leave out one"])
        if self.mail_to:
            everything_to(self.mail_to, SYSTEM_TENANT)
