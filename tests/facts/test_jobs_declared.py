"""What a decorator makes of a function, and what it refuses with the reason."""

import re
import types
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import (
    App,
    Calendar,
    Payload,
    RetryPolicy,
    Run,
    cron,
    daily,
    every,
    interval,
    manual,
    on_event,
    once,
)
from duetime.cadence import InvalidCadence, NeverFires, UnknownZone
from duetime.check import problems, report
from duetime.errors import DeclarationError, InvalidPayload, UnknownType
from duetime.job import Definition, Overlap
from duetime.job_rules import PAYLOAD_LIMIT, read_cadences
from duetime.lambdas.loading import load_app
from duetime.manifest import Manifest
from duetime.schedule import IN_ROW_LIMIT
from duetime.testing import fake_run

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class OldOrders(Payload, version=2):
    days: int = 30
    shops: tuple[str, ...] = ()


class NewOrders(OldOrders, name="new-orders"):
    pass


def clean_up(run: Run) -> None: ...


def remove(orders: OldOrders, run: Run) -> None: ...


def declared(*cadences, function=clean_up, **options):
    """The definition of a job that is declared so."""
    app = App()
    app.job(*cadences, **options)(function)
    [definition] = app.jobs.values()
    return definition


def refusal(*cadences, function=clean_up, error=DeclarationError, **options):
    """How it is refused; the function is always named."""
    with pytest.raises(error) as caught:
        declared(*cadences, function=function, **options)
    assert f"{__name__}.{function.__qualname__}" in str(caught.value)
    return str(caught.value)


class TestADeclaration:
    def test_needs_nothing_but_a_cadence(self):
        name = f"{__name__.rpartition('.')[2].replace('_', '-')}-clean-up"
        assert declared(daily("03:15")) == Definition(
            name=name, type=name, cadences=("daily 03:15",), retry=RetryPolicy().text()
        )

    def test_says_all_that_there_is_to_say(self):
        definition = declared(
            cron("*/5 * * * *"),
            function=remove,
            name="billing-old-orders",
            payload=OldOrders(days=7),
            retry=RetryPolicy(attempts=5),
            title="Old orders",
            category="Billing",
            description="Removes them.",
            overlap="queue_one",
            catch_up=3,
            precision="minute",
            timeout=timedelta(minutes=10),
            failure_threshold=1,
        )
        assert definition == Definition(
            name="billing-old-orders",
            type="billing-old-orders",
            cadences=("cron */5 * * * *",),
            payload='{"days":7,"shops":[]}',
            payload_version=2,
            retry=RetryPolicy(attempts=5).text(),
            overlap=Overlap.QUEUE_ONE,
            catch_up=3,
            precision="minute",
            failure_threshold=1,
            title="Old orders",
            category="Billing",
            description="Removes them.",
        )

    def test_leaves_the_function_the_plain_one_that_it_was(self):
        app, seen = App(), []

        @app.job(daily("03:15"))
        def nightly(run: Run) -> None:
            seen.append((run.job, run.cadence, run.trigger))

        nightly(fake_run(job="billing-nightly", cadence="Daily_03_15"))
        nightly(fake_run(job="billing-nightly"))
        nightly(fake_run())
        assert seen == [
            ("billing-nightly", "Daily_03_15", "cadence"),
            ("billing-nightly", None, "manual"),
            (None, None, "scheduled"),
        ]

    @pytest.mark.parametrize("text", ["30 2 * * *", "daily 09:00", "every 10m window=09:00-17:00"])
    def test_takes_a_cadence_as_its_text(self, text):
        [written] = declared(text).cadences
        assert written in (text, f"cron {text}")

    def test_without_a_cadence_waits_to_be_triggered(self):
        app = App()

        @app.job
        def one() -> None: ...

        @app.job()
        def other() -> None: ...

        assert [each.cadences for each in app.jobs.values()] == [("manual",)] * 2

    def test_is_the_same_in_any_order(self):
        assert declared(daily("09:00"), daily("21:00")) == declared(daily("21:00"), daily("09:00"))

    def test_drops_manual_beside_another_for_every_job_can_be_triggered(self):
        assert declared(manual(), daily("09:00")).cadences == ("daily 09:00",)


class TestStackedDecorators:
    def test_make_one_job(self):
        app = App()

        @app.job("0 9 * * *")
        @app.job(daily("21:00"), name="billing-nightly", catch_up=2)
        def nightly() -> None: ...

        assert app.jobs["billing-nightly"].cadences == ("cron 0 9 * * *", "daily 21:00")
        assert app.jobs["billing-nightly"].catch_up == 2
        assert set(app.handlers) == {"billing-nightly"}

    def test_replace_that_it_waits_to_be_triggered(self):
        app = App()
        app.job(daily("09:00"))(app.job(clean_up))
        assert [each.cadences for each in app.jobs.values()] == [("daily 09:00",)]

    def test_may_turn_a_job_of_events_into_one_of_times_too(self):
        app = App()
        app.job(on_event("orders", "Placed"))(clean_up)
        assert [each.overlap for each in app.jobs.values()] == ["allow"]
        app.job(daily("09:00"))(clean_up)
        assert [each.overlap for each in app.jobs.values()] == ["skip"]

    @pytest.mark.parametrize("option", [{"name": "another-name"}, {"catch_up": 1}, {"timeout": 7}])
    def test_say_options_in_the_lowest_alone(self, option):
        app = App()
        app.job(daily("21:00"))(clean_up)
        with pytest.raises(DeclarationError, match="say its options in the lowest decorator"):
            app.job(daily("09:00"), **option)(clean_up)

    def test_say_each_cadence_once(self):
        app = App()
        app.job(daily("21:00"))(clean_up)
        with pytest.raises(DeclarationError, match="the cadence Daily_21_00 is said twice"):
            app.job("daily 21:00")(clean_up)


class TestAName:
    @pytest.mark.parametrize(
        ("module", "function", "name"),
        [
            ("billing.nightly", "cleanup_old", "nightly-cleanup-old"),
            ("billing", "_cleanup__old_", "billing-cleanup-old"),
            ("shop.OldOrders", "removeAll2", "old-orders-remove-all2"),
            ("__main__", "nightly", "main-nightly"),
        ],
    )
    def test_is_made_of_the_last_part_of_the_module_and_the_function(self, module, function, name):
        def nightly() -> None: ...

        nightly.__module__, nightly.__name__ = module, function
        app = App()
        app.job(nightly)
        assert set(app.jobs) == {name}

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("cleanup", "two or more kebab-case segments, such as billing-nightly-cleanup"),
            ("Billing-cleanup", "two or more kebab-case segments"),
            ("billing_cleanup", "two or more kebab-case segments"),
            ("billing-", "two or more kebab-case segments"),
            ("billing-cleanup.x", "two or more kebab-case segments"),
            ("", "two or more kebab-case segments"),
            (7, "two or more kebab-case segments"),
            ("a-" + "x" * 63, "has 65 characters; at most 64"),
            ("duetime-sweep", "is kept for the system's own"),
        ],
    )
    def test_of_another_form_is_refused(self, name, problem):
        assert problem in refusal(daily("09:00"), name=name)

    def test_that_no_name_can_be_made_of_is_asked_for(self):
        with pytest.raises(DeclarationError, match=r"<lambda>.*say name='billing-nightly-cleanup'"):
            App().job(lambda: None)

    def test_belongs_to_one_function(self):
        app = App()
        app.job(daily("09:00"), name="billing-nightly")(clean_up)
        with pytest.raises(
            DeclarationError, match=r"job 'billing-nightly' has two handlers, .*clean_up and .*remove"
        ):
            app.job(name="billing-nightly")(remove)

    def test_is_no_payload_types_name(self):
        app = App()

        @app.action
        def types_own(payload: NewOrders) -> None: ...

        with pytest.raises(
            DeclarationError, match=r"name 'new-orders' has two handlers, .*types_own and .*clean_up"
        ):
            app.job(name="new-orders")(clean_up)


class TestAPayload:
    def test_is_what_each_run_is_given(self):
        app, seen = App(), []

        @app.job(daily("09:00"), payload=OldOrders(days=7))
        def old(run: Run, orders: OldOrders) -> None:
            seen.append(orders)

        [handler] = app.handlers.values()
        handler(handler.read(handler.job.payload), fake_run())
        assert seen == [OldOrders(days=7)]

    def test_must_be_said_where_times_make_the_job_due(self):
        for timed in (daily("09:00"), interval(minutes=7), once("2027-01-01 09:00"), "0 9 * * *"):
            assert "say payload=OldOrders(…)" in refusal(timed, on_event("a", "b"), function=remove)

    @pytest.mark.parametrize("cadences", [(), (manual(),), (on_event("orders", "Placed"),)])
    def test_comes_with_the_trigger_where_no_time_does(self, cadences):
        assert declared(*cadences, function=remove).payload is None
        assert declared(*cadences, function=remove).payload_version == 2
        assert declared(*cadences, function=remove, payload=OldOrders()).payload is not None

    def test_is_refused_where_the_function_takes_none(self):
        assert "it takes none" in refusal(daily("09:00"), payload=OldOrders())

    def test_of_another_type_is_refused(self):
        assert "a NewOrders, but it takes a OldOrders" in refusal(
            daily("09:00"), function=remove, payload=NewOrders()
        )
        assert "a dict, but it takes" in refusal(daily("09:00"), function=remove, payload={"days": 7})

    def test_is_small_for_each_row_carries_it(self):
        assert PAYLOAD_LIMIT == IN_ROW_LIMIT
        empty = len(OldOrders(shops=("",)).to_json())
        fits, too_large = ("é" * ((IN_ROW_LIMIT - empty + more) // 2) for more in (0, 2))
        assert declared(daily("09:00"), function=remove, payload=OldOrders(shops=(fits,)))
        told = refusal(daily("09:00"), function=remove, payload=OldOrders(shops=(too_large,)))
        assert "at most 2,048 are allowed: store it elsewhere, and pass a reference" in told

    def test_that_a_row_lacks_is_refused_when_it_is_read(self):
        app = App()
        app.job(remove)
        app.job(clean_up)
        takes, takes_none = sorted(app.handlers.values(), key=lambda each: each.payload is None)
        with pytest.raises(InvalidPayload, match=r"there is none; .*remove takes one"):
            takes.read(None)
        with pytest.raises(InvalidPayload, match="days"):
            takes.read('{"days": "soon"}')
        assert takes_none.read(None) is takes_none.read('{"any": 1}') is None


class TestAFunction:
    @pytest.mark.parametrize("is_async", [False, True])
    def test_is_called_with_what_it_takes(self, is_async):
        app, seen = App(), []

        async def asynchronous(run: Run) -> None:
            seen.append(run.attempt)

        def plain(run: Run) -> None:
            seen.append(run.attempt)

        app.job(asynchronous if is_async else plain)
        [handler] = app.handlers.values()
        handler(None, fake_run(attempt=2))
        assert seen == [2]

    def test_may_take_nothing(self):
        app, seen = App(), []

        @app.job
        def nightly(note: str = "ran") -> None:
            seen.append(note)

        [handler] = app.handlers.values()
        handler(None, fake_run())
        assert seen == ["ran"]

    def test_that_nobody_could_call_is_refused(self):
        def two(one: OldOrders, other: NewOrders) -> None: ...

        def unknown(run: Run, database: object) -> None: ...

        def bare(payload: Payload) -> None: ...

        def maybe(payload: OldOrders | None = None) -> None: ...

        def runs(one: Run, other: Run) -> None: ...

        def positional(run: Run, /) -> None: ...

        for function in (two, unknown, bare, maybe, runs, positional):
            with pytest.raises(
                DeclarationError, match=rf"{function.__name__} may take one parameter annotated"
            ):
                App().job(function)

    def test_that_makes_cadences_is_told_from_one_that_is_a_job(self):
        with pytest.raises(DeclarationError, match=r"manual is no job; call it to say a cadence"):
            App().job(manual)


class TestOverlap:
    def test_skips_unless_events_alone_start_the_job(self):
        assert declared(daily("09:00")).overlap is Overlap.SKIP
        assert declared().overlap is Overlap.SKIP
        assert declared(on_event("orders", "Placed"), on_event("orders", "Paid")).overlap is Overlap.ALLOW
        assert declared(on_event("orders", "Placed"), daily("09:00")).overlap is Overlap.SKIP
        assert declared(on_event("orders", "Placed"), overlap="skip").overlap is Overlap.SKIP

    def test_that_is_no_policy_is_refused(self):
        assert "allowed is skip, queue_one, allow, cancel_running" in refusal(daily("09:00"), overlap="both")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"catch_up": -1}, "catch_up is -1; allowed is a whole number from 0 to 100"),
        ({"catch_up": 101}, "catch_up is 101"),
        ({"catch_up": True}, "catch_up is True"),
        ({"catch_up": "3"}, "catch_up is '3'"),
        ({"failure_threshold": 0}, "failure_threshold is 0; allowed is a whole number from 1"),
        ({"precision": "hour"}, "precision is 'hour'; allowed is second or minute"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": timedelta(minutes=16)}, "up to 0:15:00"),
        ({"timeout": "5m"}, "timeout is '5m'"),
        ({"title": "x" * 101}, "title has 101 characters; at most 100"),
        ({"category": "x" * 51}, "category has 51 characters; at most 50"),
        ({"description": "x" * 501}, "description has 501 characters; at most 500"),
        ({"title": 7}, "title is 7; it must be text"),
        ({"retry": 3}, "retry is 3; say RetryPolicy(attempts=3)"),
    ],
    ids=str,
)
def test_an_option_out_of_its_range_is_refused(options, problem):
    assert problem in refusal(daily("09:00"), **options)


def test_options_at_the_ends_of_their_ranges_are_taken():
    assert declared(daily("09:00"), catch_up=100, failure_threshold=1, overlap="allow")
    assert declared(daily("09:00"), title="x" * 100, category="x" * 50, description="x" * 500)
    assert declared(daily("09:00"), timeout=timedelta(minutes=15), precision="minute")


def test_an_option_that_there_is_not_is_no_option():
    with pytest.raises(DeclarationError, match="takes no tittle=; did you mean title"):
        App().job(daily("09:00"), tittle="x")(clean_up)


def test_all_that_is_wrong_is_told_at_once():
    told = refusal(daily("09:00"), name="cleanup", catch_up=-1, failure_threshold=0)
    assert told.count(";") >= 4
    assert all(each in told for each in ("job 'cleanup'", "catch_up is -1", "failure_threshold is 0"))


class TestCadences:
    @pytest.mark.parametrize("text", ["61 * * * *", "daily 25:00", "", "hourly"])
    def test_that_are_mistyped_are_refused_with_a_caret_and_the_function(self, text):
        assert "^" in refusal(text, error=InvalidCadence)

    def test_that_never_fire_are_refused_as_such(self):
        assert "^" in refusal("0 0 30 2 *", error=NeverFires)

    @pytest.mark.parametrize("given", [5, NOW, None, timedelta(hours=1), daily])
    def test_that_are_none_are_refused(self, given):
        assert 'say daily("09:00") or another, or its text' in refusal(daily("09:00"), given)

    def test_said_twice_are_refused(self):
        assert "Daily_09_00 is said twice" in refusal(daily("09:00"), "daily 9:00")

    def test_are_twenty_at_most(self):
        many = [daily(f"{hour:02}:00") for hour in range(21)]
        assert len(declared(*many[:20]).cadences) == 20
        assert "it has 21 cadences; at most 20 are allowed" in refusal(*many)

    def test_of_seconds_are_refused_where_minutes_are_said(self):
        told = refusal("*/20 * * * * *", daily("09:00"), precision="minute")
        assert "'cron */20 * * * * *' is due at seconds within a minute" in told

    def test_of_the_past_are_taken_for_they_have_fired(self):
        assert declared(once("2020-01-01 09:00")).cadences == ("once 2020-01-01T09:00",)


class TestADefaultZone:
    def test_is_that_of_cadences_that_name_none(self):
        app = App(default_tz="Europe/Paris")
        app.job(daily("09:00"), daily("10:00", tz="Asia/Tokyo"), on_event("a", "b"))(clean_up)
        assert [each.cadences for each in app.jobs.values()] == [
            ("daily 09:00 default_tz=Europe/Paris", "daily 10:00 tz=Asia/Tokyo", "on_event a b")
        ]

    def test_that_there_is_not_is_refused(self):
        with pytest.raises(UnknownZone):
            App(default_tz="Mars/Olympus")

    def test_of_the_nearest_app_counts(self):
        paris, plain, tokyo = App(default_tz="Europe/Paris"), App(), App(default_tz="Asia/Tokyo")
        paris.job("daily 09:00", name="of-paris")(clean_up)
        plain.job("daily 09:00", name="of-none")(clean_up)
        tokyo.include(paris, plain)
        assert tokyo.jobs["of-paris"].cadences == ("daily 09:00 default_tz=Europe/Paris",)
        assert tokyo.jobs["of-none"].cadences == ("daily 09:00 default_tz=Asia/Tokyo",)

    def test_of_the_settings_is_the_last_to_be_asked(self):
        read = read_cadences(["daily 09:00 default_tz=Europe/Paris", "daily 10:00"], default_tz="Asia/Tokyo")
        assert [each.tz for each in read] == ["Europe/Paris", "Asia/Tokyo"]


class TestIncluding:
    def test_takes_jobs_over_and_makes_them_this_workers(self):
        mail, module, app = App(), types.ModuleType("mail"), App(worker="reports")
        mail.job(daily("09:00"))(clean_up)
        module.app = mail
        app.include(mail, module)
        assert set(app.jobs) == set(mail.jobs)
        assert [each.worker for each in app.jobs.values()] == ["reports"]

    def test_refuses_two_jobs_of_one_name_and_names_both(self):
        one, other = App(), App()
        one.job(name="billing-nightly")(clean_up)
        other.job(name="billing-nightly")(remove)
        with pytest.raises(DeclarationError, match=r"clean_up and .*remove"):
            App().include(one, other)


def test_the_manifest_routes_jobs_by_their_names_and_tells_their_definitions_apart():
    app = App(worker="reports")
    app.job(daily("09:00"), name="billing-nightly")(clean_up)
    app.job(name="billing-old")(remove)
    app.action(takes_new)
    manifest = app.manifest
    assert manifest.types == {"billing-nightly": 1, "billing-old": 2, "new-orders": 1}
    assert manifest.jobs == tuple(app.jobs.values())
    assert "daily 09:00" not in manifest.to_json()
    assert "daily 09:00" in manifest.jobs_json()
    assert Manifest.from_json(manifest.to_json(), manifest.jobs_json()) == manifest
    assert Manifest.from_json(manifest.to_json()).types == manifest.types


def test_the_manifests_hash_follows_the_jobs():
    one, same, later = (App() for _ in range(3))
    one.job(daily("09:00"))(clean_up)
    same.job(daily("09:00"))(clean_up)
    later.job(daily("10:00"))(clean_up)
    assert one.manifest.hash == same.manifest.hash != later.manifest.hash
    assert one.manifest.to_json() == later.manifest.to_json()


def takes_new(payload: NewOrders) -> None: ...


def test_a_job_is_no_type_that_could_be_scheduled():
    app = App()
    app.job(name="billing-old")(remove)
    app.action(takes_new)
    with pytest.raises(UnknownType, match=r"known are: new-orders$"):
        app.payload("billing-old", "{}")


def test_an_app_of_jobs_alone_can_be_loaded(tmp_path, monkeypatch):
    (tmp_path / "of_jobs_alone.py").write_text(
        "from duetime import App, daily\napp = App()\n@app.job(daily('09:00'))\ndef nightly(): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert set(load_app("of_jobs_alone:app").jobs) == {"of-jobs-alone-nightly"}


class TestTheCheckOfAWholeApp:
    def test_finds_nothing_in_a_sound_one(self):
        app = App()
        app.job("0 3 * * *", every(minutes=10, window="09:00-17:00"), interval(minutes=7))(clean_up)
        app.job(on_event("orders", "Placed"))(remove)
        app.action(takes_new)
        assert problems(app) == []

    def test_finds_a_cadence_that_runs_out(self):
        app = App()
        last = Calendar(include=["2026-12-01", "2026-12-02"])
        app.job(daily("09:00", calendar=last), name="ends-soon")(clean_up)
        [problem] = problems(app, now=NOW)
        assert problem.startswith(
            "ends-soon: 'daily 09:00 calendar=include:2026-12-01,2026-12-02' is due 2 more times"
        )

    def test_notes_what_is_over_without_blaming_it(self):
        app = App()
        app.job(once("2026-10-31 09:00"), name="was-once")(clean_up)
        found = report(app, now=NOW)
        assert found.problems == ()
        assert re.match(r"was-once: 'once 2026-10-31T09:00' is over", *found.notes)
        assert report(app, now=NOW - timedelta(days=1)).notes == ()

    def test_tells_when_each_job_is_next_due_and_by_which_cadence(self):
        app = App()
        app.job(daily("09:00"), "0 9 * * *", name="two-at-once")(clean_up)
        [job] = report(app, now=NOW).jobs
        assert job.next.at == NOW + timedelta(hours=9)
        assert set(job.next.cadences) == {"Daily_09_00", "Cron_0_9_x_x_x"}

    def test_finds_an_example_that_its_own_model_refuses(self):
        class Exampled(Payload):
            model_config = {"json_schema_extra": {"examples": [{"n": 1}, {"n": "many"}]}}  # noqa: RUF012
            n: int

        def handle(payload: Exampled) -> None: ...

        handle.__annotations__["payload"] = Exampled
        app = App()
        app.action(handle)
        [problem] = problems(app)
        assert problem.startswith("exampled: its example is not what")

    def test_tells_a_cadence_that_no_decorator_has_read(self):
        app = App()
        app.job("0 9 * * *", name="billing-nightly")(clean_up)
        handler = app.handlers["billing-nightly"]
        app._handlers["billing-nightly"] = replace(
            handler, job=replace(handler.job, cadences=("61 * * * *",))
        )
        [problem] = problems(app)
        assert problem.startswith("billing-nightly: minute: 61 is out of range")
