"""The API reads the payloads of all workers' apps."""

import sys
from types import ModuleType

import pytest

from duetime import App, Payload
from duetime.errors import DeclarationError, UnknownType
from duetime.lambdas.loading import load_app, load_apps


class Small(Payload, name="parcel"):
    weight: int


class Large(Payload, name="parcel", version=2):
    weight: int
    height: int


class Letter(Payload, name="letter"):
    to: str


def app_of(worker, *payloads, job=None):
    app = App(worker)
    for payload in payloads:

        def handle(sent) -> None: ...

        handle.__annotations__["sent"] = payload
        app.action(handle)
    if job:

        @app.job("daily 03:00", name=job)
        def run() -> None: ...

    return app


@pytest.fixture
def loaded(monkeypatch):
    def load(**apps):
        for name, app in apps.items():
            module = ModuleType(name)
            module.app = app
            monkeypatch.setitem(sys.modules, name, module)
        return load_apps(" ".join(f"{name}:app" for name in apps))

    return load


def test_one_app_is_returned_unchanged(loaded):
    one = app_of("default", Letter)
    assert loaded(post=one) is one


def test_the_types_of_all_apps_can_be_scheduled(loaded):
    both = loaded(post=app_of("default", Letter), freight=app_of("freight", Small))
    assert both.payload("letter", '{"to": "me"}') == Letter(to="me")
    assert both.payload("parcel", '{"weight": 3}') == Small(weight=3)
    with pytest.raises(UnknownType, match="letter, parcel"):
        both.payload("crate", "{}")


def test_the_newer_version_of_a_type_of_two_workers_is_read(loaded):
    for apps in (
        {"old": app_of("default", Small), "new": app_of("freight", Large)},
        {"new": app_of("freight", Large), "old": app_of("default", Small)},
    ):
        assert isinstance(loaded(**apps).payload("parcel", '{"weight": 3, "height": 4}'), Large)


def test_the_jobs_of_all_apps_are_known(loaded):
    both = loaded(
        post=app_of("default", Letter, job="post-nightly"),
        freight=app_of("freight", Small, job="freight-nightly"),
    )
    assert {"post-nightly", "freight-nightly"} <= both.handlers.keys()


@pytest.mark.parametrize("setting", ["", "post", "post:app elsewhere"])
def test_a_setting_that_names_no_app_is_rejected(monkeypatch, setting):
    module = ModuleType("post")
    module.app = app_of("default", Letter)
    monkeypatch.setitem(sys.modules, "post", module)
    with pytest.raises(DeclarationError, match="say module:name"):
        load_apps(setting)


RUNS_ON_IMPORT = """
from duetime import App, Run

app = App()

@app.job("daily 03:00", name="nightly-clean-up")
def clean_up(run: Run) -> None: ...

def run():
    with app.embedded():
        pass

"""
IN_A_THREAD = """
from concurrent.futures import ThreadPoolExecutor
ThreadPoolExecutor().submit(run).result()
"""


@pytest.mark.parametrize("at_the_end", ["run()", IN_A_THREAD], ids=["at-once", "in-a-thread"])
def test_an_import_does_not_run_an_app(tmp_path, monkeypatch, at_the_end):
    monkeypatch.delitem(sys.modules, "runs_on_import", raising=False)
    (tmp_path / "runs_on_import.py").write_text(RUNS_ON_IMPORT + at_the_end)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DeclarationError, match=r'runs_on_import:app .* `if __name__ == "__main__":`'):
        load_app("runs_on_import:app")
