"""A process over a file ends beside held work, so its messages are lost; the next process runs it."""

from datetime import timedelta

import pytest

from duetime import App, Breaker, Payload, RetryPolicy, Run, Scheduler
from duetime.errors import NotFound
from duetime.ids import new_action_id
from duetime.model.work_pause import PauseScope, WorkPause, work_of
from duetime.settings import Settings
from duetime.sqlite.cloud import SqliteCloud
from duetime.testing import TurnedClock
from tests.journeys.conftest import NOON
from tests.journeys.embedded_time import advance

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Mail(Payload):
    pass


class Office:
    """One process after another over a file; a service may be down."""

    def __init__(self, path):
        self.path, self.clock, self.app = path, TurnedClock(NOON), App()
        self.is_down, self.began = False, []

        @self.app.action(
            retry=RetryPolicy(attempts=50, backoff=[20]), breaker=Breaker(3, within="5m", open_for="2m")
        )
        def send_mail(payload: Mail, run: Run) -> None:
            del payload
            self.began.append(run.now())
            if self.is_down:
                raise ConnectionError("the mail service is down")

        self.start()

    def start(self):
        settings = Settings()
        self.cloud = SqliteCloud(self.app, path=self.path, clock=self.clock, settings=settings)
        options = {"tenant_id": "acme", "actor": "ada", "clock": self.clock, "settings": settings}
        self.scheduler = Scheduler(self.cloud.store, **options)

    def restart(self, after):
        self.cloud.close()
        self.clock.wait_until(self.clock.now() + after)
        self.start()

    def advance(self, span):
        advance(self.cloud, self.clock, span)


@pytest.fixture
def office(tmp_path):
    made = Office(tmp_path / "jobs.db")
    yield made
    made.cloud.close()


@pytest.mark.parametrize("down_for", [MINUTE, 2 * HOUR], ids=["a minute", "two hours"])
def test_an_open_breaker_is_probed_minutes_after_a_restart(office, down_for):
    office.is_down = True
    for _ in range(4):
        office.scheduler.schedule(Mail(), at=timedelta(0))
    office.advance(20 * MINUTE)
    office.restart(after=down_for)
    office.is_down, before = False, len(office.began)
    office.advance(8 * MINUTE)
    assert len(office.began) > before
    office.advance(20 * MINUTE)
    assert {row.status for row in office.scheduler.list()} == {"executed"}


@pytest.mark.parametrize("began_for", [10 * MINUTE, 50 * MINUTE], ids=["far from its end", "near its end"])
def test_a_pause_ends_within_its_spread_after_a_restart(office, began_for):
    about = {"scope": PauseScope.TYPE, "name": "mail", "reason": "it is down", "by": "ada"}
    pause = WorkPause(id=new_action_id(NOON), since=NOON, until=NOON + HOUR, spread=4 * MINUTE, **about)
    office.cloud.pauses.begin(pause)
    mails = [office.scheduler.schedule(Mail(), at=timedelta(0)) for _ in range(4)]
    office.advance(began_for)
    office.restart(after=MINUTE)
    office.advance(NOON + HOUR + 6 * MINUTE - office.clock.now())
    starts = [office.scheduler.get(mail.id).attempts[0].started_at for mail in mails]
    late = [at - pause.holds_until(work_of(mail, None)) for at, mail in zip(starts, mails, strict=True)]
    assert timedelta(0) <= min(late) <= max(late) <= MINUTE


def test_what_has_expired_is_removed_though_no_process_lasts_until_its_catch_up(office):
    mail = office.scheduler.schedule(Mail(), at=timedelta(0))
    office.advance(MINUTE)
    office.restart(after=Settings().retention + HOUR)
    office.advance(MINUTE)
    with pytest.raises(NotFound):
        office.scheduler.get(mail.id)
