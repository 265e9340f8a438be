"""Job decorators: definitions, names and rejected declarations."""

from datetime import timedelta

import pytest

from duetime import App, RetryPolicy, Run, cron, daily, manual, on_event
from duetime.errors import DeclarationError
from duetime.model.job import Definition, Overlap
from duetime.testing import fake_run
from tests.facts.job_options import NewOrders, OldOrders, clean_up, definition_of, rejection, remove


class TestDeclaration:
    def test_declaration_needs_only_a_cadence(self):
        name = f"{clean_up.__module__.rpartition('.')[2].replace('_', '-')}-clean-up"
        assert definition_of(daily("03:15")) == Definition(
            name=name, type=name, cadences=("daily 03:15",), retry=RetryPolicy().text()
        )

    def test_declaration_accepts_all_options(self):
        definition = definition_of(
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

    def test_decorator_returns_plain_function(self):
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
    def test_cadence_may_be_text(self, text):
        [written] = definition_of(text).cadences
        assert written in (text, f"cron {text}")

    def test_job_without_cadence_is_manual(self):
        app = App()

        @app.job
        def one() -> None: ...

        @app.job()
        def other() -> None: ...

        assert [job.cadences for job in app.jobs.values()] == [("manual",)] * 2

    def test_order_of_cadences_does_not_matter(self):
        assert definition_of(daily("09:00"), daily("21:00")) == definition_of(daily("21:00"), daily("09:00"))

    def test_manual_beside_another_cadence_is_dropped(self):
        assert definition_of(manual(), daily("09:00")).cadences == ("daily 09:00",)


class TestStackedDecorators:
    def test_stacked_decorators_make_one_job(self):
        app = App()

        @app.job("0 9 * * *")
        @app.job(daily("21:00"), name="billing-nightly", catch_up=2)
        def nightly() -> None: ...

        assert app.jobs["billing-nightly"].cadences == ("cron 0 9 * * *", "daily 21:00")
        assert app.jobs["billing-nightly"].catch_up == 2
        assert set(app.handlers) == {"billing-nightly"}

    def test_stacked_cadence_replaces_manual(self):
        app = App()
        app.job(daily("09:00"))(app.job(clean_up))
        assert [job.cadences for job in app.jobs.values()] == [("daily 09:00",)]

    def test_stacked_cadence_adds_times_to_event_job(self):
        app = App()
        app.job(on_event("orders", "Placed"))(clean_up)
        assert [job.overlap for job in app.jobs.values()] == ["allow"]
        app.job(daily("09:00"))(clean_up)
        assert [job.overlap for job in app.jobs.values()] == ["skip"]

    @pytest.mark.parametrize("option", [{"name": "another-name"}, {"catch_up": 1}, {"timeout": 7}])
    def test_options_are_allowed_in_lowest_decorator_only(self, option):
        app = App()
        app.job(daily("21:00"))(clean_up)
        with pytest.raises(DeclarationError, match="pass its options to the lowest decorator"):
            app.job(daily("09:00"), **option)(clean_up)

    def test_repeated_cadence_is_rejected(self):
        app = App()
        app.job(daily("21:00"))(clean_up)
        with pytest.raises(DeclarationError, match="the cadence Daily_21_00 occurs twice"):
            app.job("daily 21:00")(clean_up)


class TestName:
    @pytest.mark.parametrize(
        ("module", "function", "name"),
        [
            ("billing.nightly", "cleanup_old", "nightly-cleanup-old"),
            ("billing", "_cleanup__old_", "billing-cleanup-old"),
            ("shop.OldOrders", "removeAll2", "old-orders-remove-all2"),
            ("__main__", "nightly", "main-nightly"),
        ],
    )
    def test_default_name_is_module_and_function(self, module, function, name):
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
            ("duetime-sweep", "is reserved for the system's own"),
        ],
    )
    def test_name_of_another_form_is_rejected(self, name, problem):
        assert problem in rejection(daily("09:00"), name=name)

    def test_name_is_required_if_no_default_is_valid(self):
        with pytest.raises(DeclarationError, match=r"<lambda>.*pass name='billing-nightly-cleanup'"):
            App().job(lambda: None)

    def test_name_belongs_to_one_function(self):
        app = App()
        app.job(daily("09:00"), name="billing-nightly")(clean_up)
        with pytest.raises(
            DeclarationError, match=r"job 'billing-nightly' has two handlers, .*clean_up and .*remove"
        ):
            app.job(name="billing-nightly")(remove)

    def test_name_of_payload_type_is_rejected(self):
        app = App()

        @app.action
        def types_own(payload: NewOrders) -> None: ...

        with pytest.raises(
            DeclarationError, match=r"name 'new-orders' has two handlers, .*types_own and .*clean_up"
        ):
            app.job(name="new-orders")(clean_up)


def test_unknown_option_is_rejected():
    with pytest.raises(DeclarationError, match="takes no tittle=; did you mean title"):
        App().job(daily("09:00"), tittle="x")(clean_up)


def test_error_lists_every_problem():
    shown = rejection(daily("09:00"), name="cleanup", catch_up=-1, failure_threshold=0)
    assert shown.count(";") >= 4
    assert all(name in shown for name in ("job 'cleanup'", "catch_up is -1", "failure_threshold is 0"))
