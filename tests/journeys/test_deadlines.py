"""Deadlines of jobs in simulated time: each miss is reported once, whatever happens between."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Registration, RetryPolicy, Run, daily, every, manual
from duetime.errors import BackendUnavailable, DeclarationError
from duetime.ids import SYSTEM_TENANT
from duetime.jobs.check_deadlines import usual_run_time
from duetime.model.built_in import DEADLINE
from duetime.model.metric import Metric
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud
from tests.hooked import hook_backend
from tests.journeys import test_paused_tenants as paused_tenants
from tests.journeys.recorded_job import PATIENT

SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=n) for n in (1, 60, 3_600, 86_400))
START = datetime(2027, 3, 1, tzinfo=UTC)
JOB = "books-close"
MISSED, AT_RISK, SILENT = "job.deadline_missed", "job.deadline_at_risk", "job.silent"
LATER = RetryPolicy(2, backoff=4 * HOUR, jitter=0)
SKEW = PATIENT.clock_skew


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2027, 3, day, hour, minute, tzinfo=UTC)


class Books:
    """A cloud with one job, whose runs last and fail as a test plans them."""

    def __init__(self, *cadences, start: datetime = START, settings=PATIENT, faults=None, **options) -> None:
        self.lasts, self.fails = dict[tuple[datetime, int], timedelta](), dict[datetime, int]()
        self.usual, self.ran = timedelta(minutes=1), list[datetime]()
        self.cadences = cadences or (daily("03:00", tz="UTC"),)
        self.deployed = self.app(**options)
        self.cloud = SimulatedCloud(self.deployed, start=start, settings=settings, faults=faults)

    def app(self, *cadences, **options) -> App:
        app = App()
        retry = options.pop("retry", RetryPolicy(1))

        @app.job(*(cadences or self.cadences), name=JOB, retry=retry, **options)
        def close(run: Run) -> None:
            self.ran.append(run.nominal_at)
            self.cloud.advance(self.lasts.get((run.nominal_at, run.attempt), self.usual))
            if run.attempt <= self.fails.get(run.nominal_at, 0):
                raise ConnectionError("no ledger")

        return app

    def reports(self, *kinds: str) -> list[tuple[str, str]]:
        return [
            (detail["type"], detail["job"].get("nominal_at") or detail["job"]["silent_since"])
            for detail in (event["detail"] for event in self.cloud.events())
            if detail["type"] in (kinds or (MISSED, AT_RISK, SILENT))
        ]

    def event(self, kind: str) -> dict:
        [found] = [event["detail"] for event in self.cloud.events(kind)]
        return found


def text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"


def missed(*moments: datetime) -> list[tuple[str, str]]:
    return [(MISSED, text(moment)) for moment in moments]


class TestANominalTime:
    def test_that_succeeds_in_time_is_not_reported(self):
        books = Books(deadline="06:00")
        books.cloud.advance(days=5)
        assert len(books.ran) == 5
        assert books.reports() == []
        assert books.cloud.metrics.total(Metric.DEADLINE_MISSED) == 0

    def test_that_succeeds_late_is_reported_at_its_deadline_once(self):
        books = Books(deadline="06:00")
        books.lasts[at(2, 3), 1] = 4 * HOUR
        books.cloud.advance(days=4)
        assert books.reports() == missed(at(2, 3))
        event = books.event(MISSED)
        assert event["at"] == text(at(2, 6) + SKEW)
        assert event["job"] == {
            "name": JOB,
            "nominal_at": text(at(2, 3)),
            "deadline_at": text(at(2, 6)),
            "status": "processing",
            "run_id": f"{JOB}.000001.20270302T030000Z",
            "expected_at": None,
            "reason": "its run has not ended",
        }
        assert books.cloud.metrics.total(Metric.DEADLINE_MISSED) == 1

    def test_that_ends_within_the_clocks_difference_after_it_is_late(self):
        books = Books(within=HOUR)
        books.lasts[at(2, 3), 1] = HOUR + 2 * SECOND
        books.cloud.advance(days=2)
        assert books.reports() == missed(at(2, 3))
        assert books.event(MISSED)["job"]["status"] == "executed"

    def test_that_ends_at_it_is_in_time(self):
        books = Books(within=HOUR)
        books.lasts[at(2, 3), 1] = HOUR
        books.cloud.advance(days=2)
        assert books.reports() == []

    def test_that_failed_for_good_is_reported_at_its_deadline(self):
        books = Books(deadline="06:00")
        books.fails[at(2, 3)] = 1
        books.cloud.advance(days=3)
        assert books.reports() == missed(at(2, 3))
        assert books.event(MISSED)["job"]["status"] == "failed"
        assert "no ledger" in books.event(MISSED)["job"]["reason"]

    def test_that_was_redriven_in_time_is_not(self):
        books = Books(deadline="06:00")
        books.fails[at(2, 3)] = 1
        books.cloud.advance(days=1, hours=4)
        [row] = books.cloud.actions("failed")
        books.fails.clear()
        books.cloud.scheduler.redrive(row.id)
        books.cloud.advance(days=2)
        assert books.reports() == []

    @pytest.mark.parametrize(("wait", "reported"), [(HOUR, False), (4 * HOUR, True)])
    def test_that_is_retried_is_reported_if_no_retry_succeeds_in_time(self, wait, reported):
        books = Books(deadline="06:00", retry=RetryPolicy(3, backoff=wait, jitter=0))
        books.fails[at(2, 3)] = 1
        books.cloud.advance(days=3)
        assert books.reports() == (missed(at(2, 3)) if reported else [])

    def test_that_was_cancelled_is_reported(self):
        books = Books(deadline="06:00", retry=RetryPolicy(3, backoff=2 * HOUR, jitter=0))
        books.fails[at(2, 3)] = 1
        books.cloud.advance(days=1, hours=4)
        [row] = [row for row in books.cloud.actions("pending") if row.is_retrying]
        books.cloud.scheduler.cancel(row.id)
        books.cloud.advance(days=1)
        assert books.reports() == missed(at(2, 3))
        assert books.event(MISSED)["job"]["reason"].endswith("cancelled by simulation")

    def test_that_was_skipped_for_another_run_is_reported(self):
        books = Books(every(hours=1, tz="UTC"), within=30 * MINUTE)
        books.lasts[at(1, 2), 1] = 90 * MINUTE
        books.cloud.advance(hours=5)
        assert books.reports(MISSED) == missed(at(1, 2), at(1, 3))

    def test_that_an_operator_skipped_or_paused_is_excused(self):
        books = Books(deadline="06:00")
        books.cloud.jobs.skip_next(JOB)
        books.cloud.advance(days=1)
        books.cloud.jobs.pause(JOB, until=timedelta(days=2))
        books.cloud.advance(days=3)
        assert books.ran == [at(4, 3)]
        assert books.reports() == []

    def test_planned_by_a_resume_is_reported_though_its_deadline_comes_before_the_next_sweep(self):
        books = Books(every(seconds=20, tz="UTC"), within=5 * SECOND, retry=RetryPolicy(1))
        books.usual = timedelta(0)
        books.cloud.jobs.pause(JOB, reason="an audit")
        books.cloud.advance(minutes=5, seconds=2)
        late = START + timedelta(minutes=5, seconds=20)
        books.cloud.jobs.resume(JOB)
        books.cloud.clock.wait_until(books.cloud.now + 40 * SECOND)  # no step runs meanwhile
        books.cloud.advance(minutes=3)
        assert missed(late)[0] in books.reports()

    def test_of_a_paused_tenant_is_excused_and_a_later_one_is_not(self):
        books = Books(manual())
        acme = books.cloud.scheduler_for("acme").jobs
        late = {"deadline": "06:00", "every_success_within": 26 * HOUR}
        acme.register(Registration(name="acme-books", handler=JOB, cadences=["daily 03:00"], **late))
        books.cloud.advance(hours=1)
        begun = paused_tenants.pause(books.cloud)
        books.cloud.advance(days=2)
        assert books.reports() == []
        paused_tenants.resume(books.cloud, begun)
        books.fails |= {at(day, 3): 1 for day in range(3, 30)}
        books.cloud.advance(days=2)
        assert (SILENT, text(START)) in books.reports()
        assert books.reports(MISSED) == missed(at(3, 3), at(4, 3))

    def test_of_a_removed_job_is_excused(self):
        books = Books(deadline="06:00")
        books.lasts[at(2, 3), 1] = 4 * HOUR
        books.cloud.advance(days=1, hours=1)
        books.cloud.deploy(App())
        books.cloud.advance(days=2)
        assert books.reports() == []

    def test_that_nobody_planned_is_reported_after_the_outage(self):
        books = Books(deadline="06:00")
        books.cloud.advance(hours=1)
        books.cloud.clock.wait_until(at(4, 12))
        books.cloud.advance(days=1)
        assert books.ran == [at(5, 3)]
        assert sorted(books.reports()) == missed(at(1, 3), at(2, 3), at(3, 3), at(4, 3))

    def test_costs_one_check_if_it_succeeds_before_half_of_the_time(self):
        books = Books(deadline="06:00")
        books.cloud.advance(hours=4, minutes=31)
        checks = [row for row in books.cloud.memory.store.rows() if row.type == DEADLINE]
        assert [row.attempt for row in checks if row.status == "executed"] == [1]
        books.cloud.advance(hours=2)
        assert not [row for row in checks if row.status == "executed" and row.attempt > 1]


class TestAJobWithoutADeadline:
    def test_has_no_checks(self):
        books = Books()
        books.cloud.advance(days=2)
        assert not [row for row in books.cloud.memory.store.rows() if row.type == DEADLINE]


class TestAPausedJob:
    def test_that_gets_a_deadline_has_no_checks_before_it_is_resumed(self):
        books = Books()
        books.cloud.advance(hours=1)
        books.cloud.jobs.pause(JOB, reason="an audit")
        books.cloud.deploy(books.app(deadline="06:00"))
        books.cloud.advance(minutes=3)
        assert pending_checks(books) == []
        books.cloud.jobs.resume(JOB)
        books.cloud.advance(minutes=3)
        assert pending_checks(books) != []

    def test_of_a_paused_tenant_has_no_check_of_its_silence(self):
        books = Books(manual())
        acme = books.cloud.scheduler_for("acme").jobs
        silent = {"every_success_within": 26 * HOUR}
        acme.register(Registration(name="acme-books", handler=JOB, cadences=["daily 03:00"], **silent))
        books.cloud.advance(hours=1)
        acme.pause("acme-books", reason="an audit")
        paused_tenants.pause(books.cloud)
        assert len(pending_checks(books)) == 1
        books.cloud.advance(hours=28)
        assert pending_checks(books) == []


def pending_checks(books):
    rows = books.cloud.memory.store.rows()
    return [row for row in rows if row.type == DEADLINE and row.status == "pending"]


class TestACrash:
    @pytest.mark.parametrize("seed", range(12))
    def test_between_reports_nothing_twice_and_loses_nothing(self, seed):
        retry = RetryPolicy(5, backoff=40 * MINUTE, jitter=0)
        books = Books(
            every(hours=2, tz="UTC"),
            within=30 * MINUTE,
            retry=retry,
            settings=Settings(),
            faults=Faults(seed),
        )
        books.usual = timedelta(0)
        late = [at(1, hour) for hour in (2, 6, 10)]
        books.fails |= dict.fromkeys(late, 1)
        books.cloud.advance(hours=12)
        books.cloud.end_faults()
        books.cloud.advance(hours=2)
        explained = books.cloud.jobs.explain(JOB, START, at(1, 13))
        assert missed(*(entry.at for entry in explained if entry.deadline == "missed")) == sorted(
            books.reports(MISSED)
        )
        assert set(missed(*late)) <= set(books.reports(MISSED))


class TestAChange:
    def test_that_adds_a_deadline_covers_planned_times(self):
        books = Books(retry=LATER)
        books.fails[at(2, 3)] = 1
        books.cloud.advance(days=1, hours=2)
        books.cloud.deploy(books.app(deadline="06:00", retry=LATER))
        books.cloud.advance(days=1)
        assert books.reports() == missed(at(2, 3))

    def test_that_removes_it_ends_the_reports(self):
        books = Books(deadline="06:00", retry=LATER)
        books.fails[at(2, 3)] = 1
        books.cloud.advance(days=1, hours=4)
        books.cloud.deploy(books.app(retry=LATER))
        books.cloud.advance(days=1)
        assert books.reports() == []

    @pytest.mark.parametrize(
        ("wall", "reported_at"), [("05:00", at(2, 5)), ("08:00", None), ("06:30", at(2, 6, 30))]
    )
    def test_that_moves_it_applies_at_once(self, wall, reported_at):
        books = Books(deadline="06:00", retry=LATER)
        books.fails[at(2, 3)] = 1
        books.cloud.advance(days=1, hours=4)
        books.cloud.deploy(books.app(deadline=wall, retry=LATER))
        books.cloud.deploy(books.app(deadline=wall, retry=LATER, title="again"))
        books.cloud.advance(days=1)
        assert books.reports() == (missed(at(2, 3)) if reported_at else [])
        if reported_at:
            assert books.event(MISSED)["at"] == text(reported_at + SKEW)

    def test_of_the_plan_retires_old_checks(self):
        books = Books(deadline="06:00", retry=LATER)
        books.cloud.advance(hours=1)
        books.cloud.deploy(books.app(daily("05:00", tz="UTC"), deadline="06:00"))
        books.lasts[at(2, 5), 1] = 2 * HOUR
        books.cloud.advance(days=2)
        assert books.ran == [at(1, 5), at(2, 5)]
        assert books.reports() == missed(at(2, 5))


class TestAClockChange:
    """In Paris, clocks jump from 02:00 to 03:00 on 28 March, and from 03:00 back to 02:00 on 31 October."""

    @pytest.mark.parametrize(
        ("start", "wall", "deadline"),
        [
            (datetime(2027, 3, 27, 20, tzinfo=UTC), "06:00", datetime(2027, 3, 28, 4, tzinfo=UTC)),
            (datetime(2027, 3, 27, 20, tzinfo=UTC), "02:30", datetime(2027, 3, 28, 1, tzinfo=UTC)),
            (datetime(2027, 10, 30, 20, tzinfo=UTC), "06:00", datetime(2027, 10, 31, 5, tzinfo=UTC)),
            (datetime(2027, 10, 30, 20, tzinfo=UTC), "02:30", datetime(2027, 10, 31, 0, 30, tzinfo=UTC)),
        ],
    )
    def test_leaves_the_deadline_on_the_wall(self, start, wall, deadline):
        books = Books(daily("23:30", tz="Europe/Paris"), start=start, deadline=wall)
        books.usual = 11 * HOUR
        books.cloud.advance(hours=14)
        event = books.event(MISSED)
        assert (event["job"]["deadline_at"], event["at"]) == (text(deadline), text(deadline + SKEW))


class TestAPrediction:
    def usual(self, books: Books, span: timedelta) -> None:
        books.usual = span
        books.cloud.advance(days=4)
        assert books.reports() == []

    def test_reports_a_run_that_has_too_little_time_left(self):
        books = Books(deadline="06:00", retry=RetryPolicy(2, backoff=90 * MINUTE, jitter=0))
        self.usual(books, HOUR)
        books.fails[at(5, 3)] = 1  # from 05:30, the second attempt needs an hour
        books.cloud.advance(days=1)
        assert books.reports() == [(AT_RISK, text(at(5, 3))), *missed(at(5, 3))]
        event = books.event(AT_RISK)
        assert at(5, 4) < datetime.fromisoformat(event["at"]) <= at(5, 5)
        assert event["job"]["expected_at"] == text(at(5, 6, 30))
        assert books.cloud.metrics.total(Metric.DEADLINE_AT_RISK) == 1

    def test_may_be_wrong_and_the_deadline_is_then_met(self):
        books = Books(deadline="06:00", retry=RetryPolicy(2, backoff=90 * MINUTE, jitter=0))
        self.usual(books, HOUR)
        books.fails[at(5, 3)] = 1
        books.lasts[at(5, 3), 2] = 20 * MINUTE
        books.cloud.advance(days=1)
        assert books.reports() == [(AT_RISK, text(at(5, 3)))]

    def test_counts_from_when_the_run_began(self):
        books = Books(within=HOUR)
        self.usual(books, 45 * MINUTE)
        assert books.ran == [at(day, 3) for day in range(1, 5)]

    def test_of_an_end_at_the_deadline_reports_nothing(self):
        books = Books(within=HOUR)
        self.usual(books, HOUR)

    @pytest.mark.parametrize(("runs", "expected"), [(2, None), (3, HOUR)])
    def test_needs_runs_that_ended(self, runs, expected):
        books = Books(retry=RetryPolicy(2, backoff=HOUR, jitter=0))
        books.usual = HOUR
        books.fails |= {at(3, 3): 1, at(4, 3): 2}
        books.cloud.advance(days=runs + (runs > 2), hours=4)
        rows = books.cloud.memory.store.of_job(SYSTEM_TENANT, JOB, limit=9, cursor=None)
        assert usual_run_time(rows) == expected

    def test_needs_three_runs(self):
        books = Books(deadline="06:00", retry=RetryPolicy(2, backoff=90 * MINUTE, jitter=0))
        books.usual = HOUR
        books.cloud.advance(days=2)
        books.fails[at(3, 3)] = 1
        books.cloud.advance(days=1)
        assert books.reports() == missed(at(3, 3))

    def test_shows_an_open_deadline_at_risk(self):
        books = Books(deadline="06:00", retry=RetryPolicy(2, backoff=90 * MINUTE, jitter=0))
        self.usual(books, HOUR)
        books.fails[at(5, 3)] = 1
        states = []
        for _ in range(14):
            books.cloud.advance(minutes=30)
            [entry] = books.cloud.jobs.explain(JOB, at(5, 2), at(5, 4))
            states.append(entry.deadline)
        assert list(dict.fromkeys(states)) == ["open", "at_risk", "missed"]


class TestASilence:
    def test_of_a_job_that_succeeds_is_none(self):
        books = Books(every_success_within=26 * HOUR)
        books.cloud.advance(days=10)
        assert books.reports() == []

    def test_is_reported_once_and_the_next_one_again(self):
        books = Books(every_success_within=26 * HOUR)
        books.fails |= {at(day, 3): 1 for day in (4, 5, 6, 9, 10)}
        books.cloud.advance(days=12)
        ended = [at(3, 3, 1), at(8, 3, 1)]
        assert books.reports() == [(SILENT, text(moment)) for moment in ended]
        first, second = (event["detail"] for event in books.cloud.events(SILENT))
        assert [first["at"], second["at"]] == [text(moment + 26 * HOUR) for moment in ended]
        assert books.cloud.metrics.total(Metric.SILENT) == 2

    def test_is_reported_in_time_though_its_next_check_cannot_be_put(self):
        books = Books(manual(), every_success_within=26 * HOUR)
        books.cloud.advance(hours=1)
        is_throttled = [True]

        def throttled(put, row):
            if row.type == DEADLINE and is_throttled:
                raise BackendUnavailable("the actions table", "throttled")
            return put(row)

        hook_backend(books.cloud.memory, "store", books.deployed).hooks["put"] = throttled
        books.cloud.advance(hours=25, minutes=1)
        assert books.reports() == [(SILENT, text(START))]
        is_throttled.clear()
        books.cloud.advance(days=3)
        assert books.reports() == [(SILENT, text(START))]
        assert len(pending_checks(books)) == 1

    def test_begins_with_the_job_if_nothing_ever_succeeded(self):
        books = Books(manual(), every_success_within=26 * HOUR)
        books.cloud.advance(days=4)
        assert books.reports() == [(SILENT, text(START))]
        books.cloud.jobs.trigger(JOB)
        books.cloud.advance(days=1)
        assert len(books.reports()) == 1
        books.cloud.advance(days=1)
        assert len(books.reports()) == 2

    @pytest.mark.parametrize("is_removed", [True, False])
    def test_ends_with_the_job_or_its_declaration(self, is_removed):
        books = Books(every_success_within=26 * HOUR)
        books.fails |= {at(day, 3): 1 for day in range(2, 30)}
        books.cloud.advance(days=1)
        books.cloud.deploy(App() if is_removed else books.app())
        books.cloud.advance(days=3)
        assert books.reports() == []
        assert pending_checks(books) == []

    def test_lasts_over_the_pause_of_one_cadence(self):
        books = Books(
            daily("03:00", tz="UTC"),
            daily("04:00", tz="UTC"),
            every_success_within=26 * HOUR,
        )
        books.fails |= {at(day, hour): 1 for day in range(2, 30) for hour in (3, 4)}
        books.cloud.advance(days=1)
        books.cloud.jobs.pause(JOB, cadence="Daily_03_00_UTC", reason="an audit")
        books.cloud.advance(hours=10)
        books.cloud.jobs.resume(JOB, cadence="Daily_03_00_UTC")
        books.cloud.advance(days=2)
        assert books.reports() == [(SILENT, text(at(1, 4, 1)))]

    def test_of_which_all_cadences_are_paused_is_none(self):
        books = Books(
            daily("03:00", tz="UTC"),
            daily("04:00", tz="UTC"),
            every_success_within=26 * HOUR,
        )
        books.cloud.advance(days=1)
        for cadence in ("Daily_03_00_UTC", "Daily_04_00_UTC"):
            books.cloud.jobs.pause(JOB, cadence=cadence, reason="an audit")
        books.cloud.advance(days=3)
        assert books.reports() == []

    def test_counts_from_the_end_of_a_pause(self):
        books = Books(every_success_within=26 * HOUR)
        books.cloud.advance(days=1)
        books.cloud.jobs.pause(JOB, reason="an audit")
        books.cloud.advance(days=4, hours=4)
        books.cloud.jobs.resume(JOB)
        books.cloud.advance(days=3)
        assert books.reports() == []
        books.fails |= {at(day, 3): 1 for day in range(10, 30)}
        books.cloud.advance(days=4)
        assert books.reports() == [(SILENT, text(at(9, 3, 1)))]

    def test_is_not_ended_by_a_backfill_of_older_times(self):
        books = Books(every_success_within=26 * HOUR)
        books.fails |= {at(day, 3): 1 for day in range(1, 30)}
        books.cloud.advance(hours=4)
        books.cloud.jobs.backfill(JOB, START - 3 * DAY, START)
        books.cloud.advance(days=3)
        assert len(books.ran) > 5
        assert books.reports() == [(SILENT, text(START))]

    def test_has_few_checks_however_often_the_job_runs(self):
        books = Books(every(minutes=1), every_success_within=2 * HOUR)
        books.usual = timedelta(0)
        books.cloud.advance(hours=12)
        checks = [row for row in books.cloud.memory.store.rows() if row.type == DEADLINE]
        assert len(checks) <= 9

    def test_survives_redeploys_with_one_report(self):
        books = Books(every_success_within=26 * HOUR)
        books.fails |= {at(day, 3): 1 for day in range(2, 30)}
        for day in range(6):
            books.cloud.advance(days=1)
            books.cloud.deploy(books.app(every_success_within=26 * HOUR, title=f"title {day}"))
        assert books.reports() == [(SILENT, text(at(1, 3, 1)))]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"deadline": "06:00", "within": HOUR}, "deadline and within are both given; use one of them"),
        ({"deadline": "6 am"}, "deadline is '6 am'; use a wall time such as \"06:00\""),
        ({"deadline": "24:00"}, "deadline is '24:00'; use a wall time"),
        ({"deadline": 6}, "deadline is 6; use a wall time"),
        ({"deadline": "03:00"}, "the deadline 03:00 is a nominal time itself; use a later one"),
        ({"within": timedelta(0)}, "within is 0:00:00; allowed is a second to 1 day, 0:00:00"),
        ({"within": -HOUR}, "allowed is a second to"),
        ({"within": 25 * HOUR}, "the longest time to the next nominal time"),
        ({"within": "2h"}, "within is '2h'; use a timedelta"),
        ({"within": timedelta(milliseconds=1_500)}, "use whole seconds"),
        ({"every_success_within": HOUR}, "1 day, 0:00:00 may pass from one nominal time to the next"),
        ({"every_success_within": SECOND}, "every_success_within is 0:00:01; allowed is 0:01:00 to"),
    ],
)
def test_a_bad_declaration_is_refused(options, problem):
    with pytest.raises(DeclarationError) as refused:
        Books(**options)
    assert problem in str(refused.value)


@pytest.mark.parametrize("options", [{"deadline": "06:00"}, {"within": HOUR}])
def test_a_deadline_needs_nominal_times(options):
    with pytest.raises(DeclarationError, match="no cadence has times: a deadline belongs to a nominal time"):
        Books(manual(), **options)


def test_a_deadline_after_the_next_nominal_time_is_refused():
    with pytest.raises(
        DeclarationError, match=r"of the nominal time .*12:00:00Z would be .*06:00:00Z, after the next"
    ):
        Books(daily("03:00", tz="UTC"), daily("12:00", tz="UTC"), deadline="06:00")
