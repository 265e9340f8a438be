"""What a job's function may take, and the payload that each run is given."""

import pytest

from duetime import App, Payload, Run, daily, interval, manual, on_event, once
from duetime.declare.job_rules import PAYLOAD_LIMIT
from duetime.errors import DeclarationError, InvalidPayload
from duetime.model.new_action import IN_ROW_LIMIT
from duetime.testing import fake_run
from tests.facts.declared import NewOrders, OldOrders, clean_up, declared, refusal, remove


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
            assert "pass payload=OldOrders(…)" in refusal(timed, on_event("a", "b"), function=remove)

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
        shown = refusal(daily("09:00"), function=remove, payload=OldOrders(shops=(too_large,)))
        assert "at most 2,048 are allowed: store it elsewhere, and pass a reference" in shown

    def test_that_a_row_lacks_is_refused_when_it_is_read(self):
        app = App()
        app.job(remove)
        app.job(clean_up)
        takes, takes_none = sorted(app.handlers.values(), key=lambda handler: handler.payload is None)
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
        with pytest.raises(DeclarationError, match=r"manual is no job; call it to make a cadence"):
            App().job(manual)
