"""What the distributions and npm packages that duetime draws in say of their licences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import metadata

from packaging.requirements import Requirement

from tests.supply.project import EXTRAS, NPM_LOCK, PYPROJECT, normal

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CNRI-Python",  # parts of regex that came from Python itself
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",  # certifi, axe-core: used as they are; whoever changes their files would owe those files alone
    "PSF-2.0",
    "Python-2.0",
    "Zlib",
}

_SAID_OTHERWISE = {
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd license": "BSD",
    "dual license": "",  # python-dateutil's classifiers name both
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "unknown": "",
}


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression leaves a choice that is allowed."""
    choices = re.split(r" OR ", expression.strip("()"))
    return any(all(part in ALLOWED for part in choice.split(" AND ")) for choice in choices)


def of_python(requirements: Iterable[str]) -> dict[str, str]:
    """Distribution to licence, of all that these requirements draw in here."""
    return {name: of_distribution(name) for name in sorted(_closure(requirements))}


def of_duetime() -> dict[str, str]:
    """Of what duetime needs where it runs, with each of its extras."""
    expected = [
        *PYPROJECT["project"]["dependencies"],
        *(requirement_line for extra in EXTRAS.values() for requirement_line in extra),
    ]
    return of_python(expected)


def of_npm() -> dict[str, str]:
    """npm package to licence, of all that is locked."""
    return {
        path.rpartition("node_modules/")[2]: entry.get("license", "")
        for path, entry in NPM_LOCK["packages"].items()
        if path
    }


def of_distribution(name: str) -> str:
    """Its SPDX expression, or what it says in older ways."""
    fields = metadata.metadata(name)
    classifiers = [
        requirement_line.rpartition(" :: ")[2]
        for requirement_line in fields.get_all("Classifier") or ()
        if requirement_line.startswith("License")
    ]
    for licence_text in (
        fields.get("License-Expression"),
        fields.get("License"),
        " OR ".join(map(_known, classifiers)),
    ):
        if licence_text and _known(licence_text):
            return _known(licence_text)
    return ""


def _known(licence_text: str) -> str:
    line = licence_text.strip().partition("\n")[0]  # some say the whole text
    return _SAID_OTHERWISE.get(line.lower(), line)


def _closure(requirements: Iterable[str]) -> set[str]:
    """As this environment's markers decide, extras of extras included."""
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(requirement) for requirement in requirements]
    while waiting:
        expected = waiting.pop()
        for extra in {"", *expected.extras}:
            if (normal(expected.name), extra) not in found:
                found.add((normal(expected.name), extra))
                waiting.extend(_drawn_in(expected.name, extra))
    return {name for name, _ in found}


def _drawn_in(name: str, extra: str) -> Iterator[Requirement]:
    for requirement_line in map(Requirement, metadata.requires(name) or ()):
        if requirement_line.marker is None or requirement_line.marker.evaluate({"extra": extra}):
            yield requirement_line
