"""Lock the dependencies: ``python -m tools.lock`` writes requirements/*.txt and package-lock.json."""

from __future__ import annotations

import json
import subprocess

from tools.commands import BIN, ROOT

_COMPILE = (
    *(f"{BIN}/uv", "pip", "compile", "--quiet", "--universal", "--no-header", "--no-emit-index-url"),
    *("--no-annotate", "--python-version", "3.11"),
)
_DEV, _RIVALS = "requirements/dev.txt", "rivals/requirements.txt"
_LOCKS = {
    _DEV: "--all-extras --group dev pyproject.toml",
    "requirements/hashed.txt": f"--generate-hashes --constraint {_DEV} pyproject.toml",
    "requirements/hashed-all.txt": f"--generate-hashes --constraint {_DEV} --all-extras pyproject.toml",
    _RIVALS: "rivals/requirements.in",
    "requirements/hours.txt": f"--constraint {_DEV} --constraint {_RIVALS}"
    " --extra local --extra cdk --extra async pyproject.toml requirements/hours.in",
    "requirements/floors.txt": "--resolution lowest-direct --all-extras pyproject.toml"
    " requirements/floors.in",
}


def main() -> None:
    """Write all of them, in the order in which each needs the others."""
    for output, words in _LOCKS.items():
        subprocess.run([*_COMPILE, *words.split(), "--output-file", output], cwd=ROOT, check=True)  # noqa: S603
    subprocess.run(["npm", "install", "--package-lock-only", "--silent"], cwd=ROOT, check=True)  # noqa: S607
    file = ROOT / "package-lock.json"
    lock = json.loads(file.read_text())
    for entry in lock["packages"].values():
        entry.pop("resolved", None)  # no address of a registry
    file.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
