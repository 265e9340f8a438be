"""A copy of what the console is built from, and commands in it."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    """What the console is built from."""
    shutil.copytree(ROOT / "console", tmp_path / "console")
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs/openapi.json", tmp_path / "docs")
    shutil.copy(ROOT / "package.json", tmp_path)
    return tmp_path


def run(checkout, *command):
    node = shutil.which("node")
    assert node
    return subprocess.run(  # noqa: S603 - the project's own build
        [node, *command], cwd=checkout, capture_output=True, text=True, check=False
    )
