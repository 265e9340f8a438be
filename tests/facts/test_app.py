import types
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Payload, RetryPolicy, Run
from duetime.errors import DeclarationError, UnknownType
from duetime.lambdas.loading import load_app
from duetime.testing import fake_run


class Ping(Payload):
    n: int = 0


class Pong(Payload):
    pass


def test_decorator_returns_plain_function():
    app, seen = App(), []

    @app.action
    def ping(payload: Ping, run: Run) -> None:
        seen.append((payload.n, run.attempt))

    ping(Ping(n=1), fake_run(attempt=2))
    assert seen == [(1, 2)]


def test_handler_reads_time_from_test_clock():
    midnight, seen = datetime(2027, 6, 1, tzinfo=UTC), []

    @App().action
    def ping(payload: Ping, run: Run) -> None:
        seen.append((run.due_at, run.now(), run.deadline))

    ping(Ping(), fake_run(now=midnight, timeout=timedelta(minutes=1)))
    assert seen == [(midnight, midnight, midnight + timedelta(minutes=1))]


def test_run_parameter_is_optional_and_order_is_free():
    app = App()

    @app.action
    def ping(payload: Ping) -> None: ...

    @app.action
    def pong(run: Run, message: Pong, note: str = "x") -> None: ...

    assert set(app.handlers) == {"ping", "pong"}


def test_async_handler_runs_to_its_end():
    app, seen = App(), []

    @app.action
    async def ping(payload: Ping) -> None:
        seen.append(payload.n)

    app.handlers["ping"](Ping(n=3), fake_run())
    assert seen == [3]


def test_manifest_lists_types_and_versions_and_hash_depends_on_content():
    app, other = App(), App()
    app.action(_takes_ping)
    other.action(_takes_ping)
    assert app.manifest.types == {"ping": 1, "duetime-probe": 1}
    assert app.manifest.hash == other.manifest.hash
    other.action(_takes_pong)
    assert app.manifest.hash != other.manifest.hash


def _takes_ping(payload: Ping) -> None: ...


def _takes_pong(payload: Pong) -> None: ...


def test_app_includes_apps_of_other_modules_once():
    billing, mail, app = App(), App(), App()
    billing.action(_takes_ping)
    mail.action(_takes_pong)
    module = types.ModuleType("mail")
    module.app = mail
    app.include(billing, module, billing)
    assert set(app.handlers) == {"ping", "pong"}


def test_type_has_one_handler():
    app = App()
    app.action(_takes_ping)

    def again(payload: Ping) -> None: ...

    with pytest.raises(DeclarationError, match=r"'ping' has two handlers, .*_takes_ping and .*again"):
        app.action(again)


def test_module_without_app_is_rejected():
    with pytest.raises(DeclarationError, match="has no App"):
        App().include(types.ModuleType("empty"))


def _no_payload(run: Run) -> None: ...


def _two_payloads(one: Ping, other: Pong) -> None: ...


def _bare_payload(payload: Payload) -> None: ...


def _unknown_parameter(payload: Ping, database: object) -> None: ...


def _unannotated(payload) -> None: ...


@pytest.mark.parametrize(
    "function", [_no_payload, _two_payloads, _bare_payload, _unknown_parameter, _unannotated, lambda: None]
)
def test_uncallable_function_is_rejected(function):
    with pytest.raises(
        DeclarationError, match="must take one parameter annotated with a subclass of Payload"
    ):
        App().action(function)


def test_unresolvable_annotation_is_rejected():
    def handler(payload: "Nowhere") -> None: ...  # noqa: F821

    with pytest.raises(DeclarationError, match="cannot be resolved"):
        App().action(handler)


@pytest.mark.parametrize("timeout", [0, -1, timedelta(minutes=16), "1m", float("nan")])
def test_timeout_beyond_lambdas_limit_is_rejected(timeout):
    with pytest.raises(DeclarationError, match="timeout is"):
        App().action(timeout=timeout)(_takes_ping)


def test_only_registered_names_resolve_to_code():
    app = App()
    app.action(retry=RetryPolicy(attempts=1))(_takes_ping)
    assert app.payload("ping", '{"n": 4}') == Ping(n=4)
    for name in ("pong", "os.system", "duetime.app.App", "Ping", ""):
        with pytest.raises(UnknownType, match="known are: ping"):
            app.payload(name, "{}")


@pytest.mark.parametrize(
    "where", ["", "examples.billing", ":app", "examples.billing:", "examples.billing:nothing"]
)
def test_app_that_settings_do_not_name_is_rejected(where):
    with pytest.raises(DeclarationError):
        load_app(where)


def test_example_app_is_found():
    assert "apply-plan-change" in load_app("examples.billing:app").handlers
