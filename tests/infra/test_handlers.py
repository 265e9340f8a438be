from datetime import timedelta

import pytest

from duetime.cdk.handlers import Handlers
from duetime.errors import DeclarationError

PING_AND_PROBE = {"ping": 3, "duetime-probe": 1}
LIMIT = timedelta(minutes=10)

GOOD = """
from datetime import timedelta
from duetime import App, Payload

app = App({name})

class Ping(Payload, name="ping", version=3):
    pass

@app.action(timeout=timedelta(seconds={seconds}))
def ping(payload: Ping) -> None:
    pass
"""


@pytest.fixture
def handlers(tmp_path):
    def write(code, **given):
        (tmp_path / "mine.py").write_text(code)
        return Handlers(**{"app": "mine:app", "source": tmp_path, **given})

    return write


def good(name="", seconds=5):
    return GOOD.format(name=name, seconds=seconds)


def test_the_manifest_lists_the_apps_registrations(handlers):
    assert handlers(good()).manifest(at_most=LIMIT).types == PING_AND_PROBE


def test_output_of_an_apps_import_does_no_harm(handlers):
    assert handlers('print("hello")\n' + good()).manifest(at_most=LIMIT).types == PING_AND_PROBE


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import requests_that_nobody_has", r"mine\.py.*ModuleNotFoundError: No module named 'requests_that"),
        ("def broken(:", r"SyntaxError"),
        ('raise RuntimeError("no service")', r'File ".*mine.py", line 1.*RuntimeError: no service'),
        ("app = 5", r"mine:app is int, not a duetime.App"),
        ("x = 5", r"the module 'mine' has no 'app'"),
        ("from duetime import App\napp = App()", r"mine:app registers no handler"),
    ],
)
def test_a_failing_module_is_rejected_with_its_own_traceback(handlers, code, problem):
    with pytest.raises(
        DeclarationError, match=rf"(?s)app is 'mine:app', and importing it fails:.*Traceback.*{problem}"
    ):
        handlers(code).manifest(at_most=LIMIT)


def test_a_module_of_the_deploying_program_is_not_taken_for_one_of_the_bundle(handlers):
    with pytest.raises(DeclarationError, match="No module named 'worker'"):
        handlers("import worker\n" + good()).manifest(at_most=LIMIT)


def test_a_missing_module_is_rejected_by_name(tmp_path):
    with pytest.raises(DeclarationError, match=r"app is 'mine.sub:app'; allowed is module:name, .* in .*"):
        Handlers(app="mine.sub:app", source=tmp_path).manifest(at_most=LIMIT)


@pytest.mark.parametrize("app", ["", ":app", ".mine:app"])
def test_a_text_that_names_no_module_is_rejected(tmp_path, app):
    with pytest.raises(DeclarationError, match="allowed is module:name"):
        Handlers(app=app, source=tmp_path).manifest(at_most=LIMIT)


def test_an_app_of_another_worker_is_rejected(handlers):
    with pytest.raises(
        DeclarationError, match=r"App\(worker='reports'\), but the stack assigns it to the worker 'default'"
    ):
        handlers(good('worker="reports"')).manifest(at_most=LIMIT)


def test_a_handler_with_a_longer_timeout_than_its_worker_is_rejected(handlers):
    with pytest.raises(
        DeclarationError, match=r"worker_timeout is 60 s, but mine.ping has a time-out of 61 s"
    ):
        handlers(good(seconds=61)).manifest(at_most=timedelta(minutes=1))


def test_a_missing_requirements_file_is_rejected(handlers, tmp_path):
    with pytest.raises(DeclarationError, match="allowed is a requirements file"):
        handlers(good(), requirements=tmp_path / "none.txt").manifest(at_most=LIMIT)


def test_requirements_of_handlers_are_importable_at_synthesis(handlers, tmp_path):
    needed = tmp_path / "requirements.txt"
    needed.write_text("six==1.16.0\n")
    code = 'import six\nassert six.__version__ == "1.16.0", six.__version__\n' + good()
    assert handlers(code, requirements=needed).manifest(at_most=LIMIT).types == PING_AND_PROBE
