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
    wanted = [*PYPROJECT["project"]["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
    return of_python(wanted)


def of_npm() -> dict[str, str]:
    """npm package to licence, of all that is locked."""
    return {
        path.rpartition("node_modules/")[2]: entry.get("license", "")
        for path, entry in NPM_LOCK["packages"].items()
        if path
    }


def of_distribution(name: str) -> str:
    """Its SPDX expression, or what it says in older ways."""
    told = metadata.metadata(name)
    classifiers = [
        each.rpartition(" :: ")[2] for each in told.get_all("Classifier") or () if each.startswith("License")
    ]
    for said in (told.get("License-Expression"), told.get("License"), " OR ".join(map(_known, classifiers))):
        if said and _known(said):
            return _known(said)
    return ""


def _known(said: str) -> str:
    line = said.strip().partition("\n")[0]  # some say the whole text
    return _SAID_OTHERWISE.get(line.lower(), line)


def _closure(requirements: Iterable[str]) -> set[str]:
    """As this environment's markers decide, extras of extras included."""
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(requirement) for requirement in requirements]
    while waiting:
        wanted = waiting.pop()
        for extra in {"", *wanted.extras}:
            if (normal(wanted.name), extra) not in found:
                found.add((normal(wanted.name), extra))
                waiting.extend(_drawn_in(wanted.name, extra))
    return {name for name, _ in found}


def _drawn_in(name: str, extra: str) -> Iterator[Requirement]:
    for each in map(Requirement, metadata.requires(name) or ()):
        if each.marker is None or each.marker.evaluate({"extra": extra}):
            yield each
