import fcntl
import subprocess
import sys

import pytest

from tests.first_hours.folder import Folder
from tests.supply.project import ROOT, VERSION


@pytest.fixture(scope="session")
def wheel(testrun_uid):
    """The wheel, which the first worker of a run builds, beside that of duetime-contract."""
    built = ROOT / ".cache/hours"
    built.mkdir(parents=True, exist_ok=True)
    with (built / "lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if lock.read() != testrun_uid:
            command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built]
            for project in (ROOT, ROOT / "contract"):
                subprocess.run(command, cwd=project, check=True, capture_output=True)  # noqa: S603
            lock.truncate(0)
            lock.write(testrun_uid)
    return built / f"duetime-{VERSION}-py3-none-any.whl"


@pytest.fixture
def folder(tmp_path, wheel):
    """An empty folder, as a new user has it."""
    return Folder(tmp_path, wheel)
