import platform
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from duetime.cdk.bundle import Bundle, entry_points
from duetime.cdk.handlers import Handlers
from duetime.cdk.install import InstallTarget, install
from duetime.cdk.requirements import LAMBDA_HAS, Requirements
from duetime.cdk.targets import APP as TARGET_APP
from duetime.cdk.targets import target_handlers
from duetime.errors import DeclarationError, OperationFailed
from tests.infra.synthesis import BILLING, ROOT, Synthesised, stack

HERE = InstallTarget(platform.machine(), f"{sys.version_info.major}.{sys.version_info.minor}")
CONSOLE_KNOWS = {
    "API_PREFIX": "/api/v1",
    "SIGN_IN_URL": "https://a.example.com",
    "SIGN_IN_ISSUER": "https://pool.example.com",
    "SIGN_IN_CLIENT": "4h1c",
}
STEPS = ("arm", "catch_up", "deploy", "dispatch", "sweep", "undelivered")

ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "eu-west-1",
    "DUETIME_APP": "examples.billing:app",
    "DUETIME_QUEUES": "{}",
}


@pytest.fixture(scope="session")
def steps(tmp_path_factory):
    made = tmp_path_factory.mktemp("steps")
    Bundle(HERE).make(made)
    return made


@pytest.fixture(scope="session")
def worker(tmp_path_factory):
    made = tmp_path_factory.mktemp("worker")
    Bundle(HERE, (BILLING,)).make(made)
    return made


@pytest.fixture(scope="session")
def what_lambda_has(tmp_path_factory):
    """Lambda's own boto3, and nothing else of this environment."""
    made = tmp_path_factory.mktemp("lambda")
    install(Requirements(tuple(LAMBDA_HAS)), made, HERE)
    return made


def imported(bundle, what_lambda_has, entry, app=ENVIRONMENT["DUETIME_APP"]):
    """Import an entry point with nothing but its bundle and what Lambda has; the modules that this loaded."""
    program = (
        f"import sys; sys.path[:0] = [{str(bundle)!r}, {str(what_lambda_has)!r}]\n"
        f"import duetime.functions.{entry} as entry; assert callable(entry.handler)\n"
        "print(*sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-B", "-c", program]
    environment = ENVIRONMENT | {"DUETIME_APP": app}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert not done.returncode, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "entry", [STEPS[0], *(pytest.param(entry, marks=pytest.mark.long) for entry in STEPS[1:])]
)
def test_a_step_starts_from_its_bundle_alone_and_loads_no_pydantic(steps, what_lambda_has, entry):
    assert "pydantic" not in imported(steps, what_lambda_has, entry)


def test_a_worker_starts_from_its_bundle_alone(worker, what_lambda_has):
    assert "examples.billing" in imported(worker, what_lambda_has, "work")


def test_the_worker_of_targets_starts_from_its_bundle_alone_and_can_sign(tmp_path, what_lambda_has):
    Bundle(HERE, (target_handlers(),)).make(tmp_path)
    assert "duetime.targets.worker_app" in imported(tmp_path, what_lambda_has, "work", app=TARGET_APP)
    assert (tmp_path / "standardwebhooks/webhooks.py").is_file()


@pytest.fixture
def built_checkout(tmp_path):
    """Return the package of a checkout with a built console."""
    for name in ("src", "functions"):
        copytree(ROOT / name, tmp_path / name, ignore=ignore_patterns("built", "__pycache__"))
    built = tmp_path / "src/duetime/console/built"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html>")
    (built / "assets/app.js").write_text("")
    return tmp_path / "src/duetime"


def test_the_console_has_its_page_and_starts_without_any_library(built_checkout, tmp_path, monkeypatch):
    made = tmp_path / "made"
    page = built_checkout / "console/built"
    Bundle(HERE, console_page=page, package=built_checkout).make(made)
    there = made / "duetime/console/built"
    assert {path.name for path in there.rglob("*") if path.is_file()} == {"index.html", "app.js"}
    for name, value in CONSOLE_KNOWS.items():
        monkeypatch.setitem(ENVIRONMENT, f"DUETIME_{name}", value)
    loaded = imported(made, tmp_path / "nothing", "console")
    assert not {"boto3", "pydantic", "aws_lambda_powertools"} & loaded


def test_only_a_worker_carries_users_code_and_pydantic(steps, worker):
    for name in ("pydantic", "examples", "croniter"):
        assert not (steps / name).exists()
        assert (worker / name).exists()


def test_no_bundle_contains_files_that_lambda_has_or_never_needs(steps, worker):
    for bundle in (steps, worker):
        for name in (
            "boto3",
            "botocore",
            "bin",
            "duetime/cdk",
            "duetime/local",
            "duetime/cli",
            "duetime/testing",
            "duetime/api",
            "duetime/console",
        ):
            assert not (bundle / name).exists()
        assert not list(bundle.rglob("__pycache__"))


def test_every_entry_point_is_in_the_bundle(steps):
    there = {path.name for path in (steps / "duetime" / "functions").glob("*.py")}
    assert there == {path.name for path in entry_points().glob("*.py")} - {"api.py", "console.py"}


def contents(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in Path(directory).rglob("*")
        if path.is_file()
    }


def test_the_same_code_makes_the_same_bundle(worker, tmp_path):
    Bundle(HERE, (BILLING,)).make(tmp_path)
    assert contents(tmp_path) == contents(worker)


def test_an_asset_is_named_by_its_content_so_an_unchanged_one_changes_nothing(bundled):
    made, _ = stack(is_bundled=True)
    again = Synthesised.from_stack(made)
    assert {name: function["Code"] for name, function in again.functions().items()} == {
        name: function["Code"] for name, function in bundled.functions().items()
    }


def test_the_steps_share_one_asset_and_the_worker_the_api_and_the_console_have_their_own(bundled):
    keys = {name: function["Code"]["S3Key"] for name, function in bundled.functions().items()}
    own = {keys.pop("work-default"), keys.pop("api"), keys.pop("console")}
    assert len(set(keys.values())) == 1
    assert len(own - set(keys.values())) == 3


def test_libraries_are_for_lambdas_machines_and_not_for_this_one(bundled):
    key = bundled.functions()["work-default"]["Code"]["S3Key"].removesuffix(".zip")
    [compiled] = (bundled.assets / f"asset.{key}" / "pydantic_core").glob("*.so")
    assert "313-aarch64-linux" in compiled.name


def test_handlers_requirements_are_bundled_beside_duetimes_own(tmp_path):
    needed = tmp_path / "requirements.txt"
    needed.write_text("six==1.17.0  # a small one\n")
    (tmp_path / "mine.py").write_text("app = None\n")
    made = tmp_path / "made"
    Bundle(HERE, (Handlers(app="mine:app", source=tmp_path, requirements=needed),)).make(made)
    assert (made / "six.py").exists()
    assert (made / "mine.py").exists()
    assert (made / "pydantic").exists()


def test_handlers_named_like_a_library_are_rejected(tmp_path):
    (tmp_path / "pydantic.py").write_text("app = None\n")
    with pytest.raises(DeclarationError, match="a bundled library has the name 'pydantic' too"):
        Bundle(HERE, (Handlers(app="pydantic:app", source=tmp_path),)).make(tmp_path / "made")


def test_nothing_that_may_hold_secrets_beside_the_code_is_bundled(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("__init__.py", ".env"):
        (mine / name).write_text("")
    (tmp_path / "copied").mkdir()
    Handlers(app="mine:app", source=tmp_path).copy_to(tmp_path / "copied")
    assert [file.name for file in (tmp_path / "copied/mine").iterdir()] == ["__init__.py"]


def test_a_version_that_the_handlers_name_is_not_pinned_by_duetime(tmp_path):
    needed = tmp_path / "requirements.txt"
    needed.write_text("Pydantic_Core>=2\n")
    pinned = Requirements.for_duetime(without=LAMBDA_HAS)
    assert any(pin.startswith("pydantic-core==") for pin in pinned.pinned)
    assert not any(pin.startswith("pydantic-core==") for pin in pinned.and_file(needed).pinned)


def test_a_library_missing_from_all_indexes_raises_the_installers_message(tmp_path):
    with pytest.raises(OperationFailed, match="no-such-library-at-all"):
        install(Requirements(("no-such-library-at-all==1.0",)), tmp_path, HERE)


@pytest.mark.parametrize(("python", "glibc"), [("3.11", 17), ("3.12", 34), ("3.13", 34)])
def test_wheels_are_for_the_glibc_of_that_pythons_lambda(python, glibc):
    target = InstallTarget("aarch64", python)
    assert f"aarch64-manylinux_2_{glibc}" in target.for_uv()
    assert f"manylinux_2_{glibc}_aarch64" in target.for_pip()
    assert "manylinux2014_aarch64" in target.for_pip()


@pytest.mark.long
def test_pip_installs_the_same_files_as_uv(tmp_path, monkeypatch):
    six = Requirements(("six==1.17.0",))
    install(six, tmp_path / "uv", HERE)
    hide_uv(monkeypatch)
    install(six, tmp_path / "pip", HERE, wheels=tmp_path / "wheels")
    assert contents(tmp_path / "pip") == contents(tmp_path / "uv")


def hide_uv(monkeypatch):
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "")


@pytest.mark.long
def test_pip_installs_cached_wheels_without_an_index(tmp_path, monkeypatch):
    hide_uv(monkeypatch)
    install(Requirements(("six==1.17.0",)), tmp_path / "first", HERE, wheels=tmp_path / "wheels")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    install(Requirements(("six==1.17.0",)), tmp_path / "second", HERE, wheels=tmp_path / "wheels")
    assert (tmp_path / "second" / "six.py").exists()
