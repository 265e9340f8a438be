"""Functions of jobs: their parameters, and the payload of each run."""

import pytest

from duetime import App, Payload, Run, daily, interval, manual, on_event, once
from duetime.declare.job_rules import PAYLOAD_LIMIT
from duetime.errors import DeclarationError, InvalidPayload
from duetime.model.new_action import IN_ROW_LIMIT
from duetime.testing import fake_run
from tests.facts.job_options import NewOrders, OldOrders, clean_up, definition_of, rejection, remove


class TestJobPayload:
    def test_run_receives_job_payload(self):
        app, seen = App(), []

        @app.job(daily("09:00"), payload=OldOrders(days=7))
        def old(run: Run, orders: OldOrders) -> None:
            seen.append(orders)

        [handler] = app.handlers.values()
        handler(handler.read(handler.job.payload), fake_run())
        assert seen == [OldOrders(days=7)]

    def test_payload_is_required_for_job_with_times(self):
        for timed in (daily("09:00"), interval(minutes=7), once("2027-01-01 09:00"), "0 9 * * *"):
            assert "pass payload=OldOrders(…)" in rejection(timed, on_event("a", "b"), function=remove)

    @pytest.mark.parametrize("cadences", [(), (manual(),), (on_event("orders", "Placed"),)])
    def test_payload_comes_from_trigger_without_times(self, cadences):
        assert definition_of(*cadences, function=remove).payload is None
        assert definition_of(*cadences, function=remove).payload_version == 2
        assert definition_of(*cadences, function=remove, payload=OldOrders()).payload is not None

    def test_payload_is_rejected_if_function_takes_none(self):
        assert "it takes none" in rejection(daily("09:00"), payload=OldOrders())

    def test_payload_of_another_type_is_rejected(self):
        assert "a NewOrders, but it takes a OldOrders" in rejection(
            daily("09:00"), function=remove, payload=NewOrders()
        )
        assert "a dict, but it takes" in rejection(daily("09:00"), function=remove, payload={"days": 7})

    def test_payload_over_limit_of_row_is_rejected(self):
        assert PAYLOAD_LIMIT == IN_ROW_LIMIT
        empty = len(OldOrders(shops=("",)).to_json())
        fits, too_large = ("é" * ((IN_ROW_LIMIT - empty + more) // 2) for more in (0, 2))
        assert definition_of(daily("09:00"), function=remove, payload=OldOrders(shops=(fits,)))
        shown = rejection(daily("09:00"), function=remove, payload=OldOrders(shops=(too_large,)))
        assert "at most 2,048 are allowed: store it elsewhere, and pass a reference" in shown

    def test_row_without_payload_is_rejected_when_read(self):
        app = App()
        app.job(remove)
        app.job(clean_up)
        takes, takes_none = sorted(app.handlers.values(), key=lambda handler: handler.payload is None)
        with pytest.raises(InvalidPayload, match=r"there is none; .*remove takes one"):
            takes.read(None)
        with pytest.raises(InvalidPayload, match="days"):
            takes.read('{"days": "soon"}')
        assert takes_none.read(None) is takes_none.read('{"any": 1}') is None


class TestJobFunction:
    @pytest.mark.parametrize("is_async", [False, True])
    def test_function_is_called_with_its_parameters(self, is_async):
        app, seen = App(), []

        async def asynchronous(run: Run) -> None:
            seen.append(run.attempt)

        def plain(run: Run) -> None:
            seen.append(run.attempt)

        app.job(asynchronous if is_async else plain)
        [handler] = app.handlers.values()
        handler(None, fake_run(attempt=2))
        assert seen == [2]

    def test_function_may_have_no_parameters(self):
        app, seen = App(), []

        @app.job
        def nightly(note: str = "ran") -> None:
            seen.append(note)

        [handler] = app.handlers.values()
        handler(None, fake_run())
        assert seen == ["ran"]

    def test_uncallable_function_is_rejected(self):
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

    def test_cadence_factory_is_no_job(self):
        with pytest.raises(DeclarationError, match=r"manual is no job; call it to make a cadence"):
            App().job(manual)
