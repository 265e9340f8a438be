"""The options of a local cloud."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from duetime.api.authenticator import check_access
from duetime.ids import SYSTEM_TENANT
from duetime.settings import Settings
from tests.emulated.functions import Handler
from tests.emulated.invocation_poller import RETRY_WAITS
from tests.emulated.notifications import everything_to
from tests.emulated.schedule_poller import SchedulerQuirks
from tests.emulated.stream_poller import LONGEST_PAUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedOptions:
    """The options of a local cloud.

    Attributes:
        settings: the deployment's settings; names, queues and ARNs are filled in at the start. All types have
            metrics, which cost nothing here.
        port: the TCP port on this machine; 0 takes any free one.
        concurrency: how many handlers run at once.
        timers: rare behaviour of EventBridge Scheduler.
        message_doubles: the probability that SQS delivers a message twice.
        max_receives: how often a message is received before it goes to the dead letters.
        retry_waits: how long Lambda waits before it tries a failed asynchronous invocation again.
        stop_within: how long a stop waits for running handlers.
        mail_to: send every notification of the tenants ``acme`` and ``system`` to this address; empty:
            follow their preferences.
        setup: called once before the app is deployed, when boto3 already reaches the local cloud. It
            creates the handlers' own tables, queues and topics. An error in it ends the start.
        wrap_handler: returns what runs in place of a function's handler, by the function's name: a fault
            or a recording for a test.
        longest_pause: the longest pause between two tries of a stream record.

    Raises:
        InvalidArgument: `mail_to` is no mail address.
        SettingsError: a role has an unknown permission, or an identity an invalid tenant.
    """

    settings: Settings = field(default_factory=Settings)
    port: int = 0
    concurrency: int = 20
    timers: SchedulerQuirks = field(default_factory=SchedulerQuirks)
    message_doubles: float = 0.0
    max_receives: int = 5
    retry_waits: Sequence[timedelta] = RETRY_WAITS
    stop_within: timedelta = timedelta(seconds=10)
    mail_to: str = ""
    setup: Callable[[], object] | None = None
    wrap_handler: Callable[[str, Handler], Handler] = lambda _name, handler: handler
    longest_pause: timedelta = LONGEST_PAUSE

    def __post_init__(self) -> None:
        check_access(self.settings)
        if self.mail_to:
            everything_to(self.mail_to, SYSTEM_TENANT)
