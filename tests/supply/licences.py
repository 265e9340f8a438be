"""The licences of the Python distributions and npm packages that duetime depends on."""

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
    "MPL-2.0",  # certifi, axe-core: used unchanged; only a changed file of theirs would have to be published
    "PSF-2.0",
    "Python-2.0",
    "Zlib",
}

_OTHER_SPELLINGS = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd license": "BSD",
    "dual license": "",  # python-dateutil's classifiers name both
    "mit license": "MIT",
    "psfl": "PSF-2.0",  # defusedxml
    "the mit license (mit)": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "unknown": "",
}


def is_allowed(expression: str) -> bool:
    """Return whether an SPDX expression has a choice whose licences are all allowed."""
    choices = re.split(r" OR ", expression.strip("()"))
    return any(all(part in ALLOWED for part in choice.split(" AND ")) for choice in choices)


def of_python(requirements: Iterable[str]) -> dict[str, str]:
    """Return the licence of each distribution that these requirements need in this environment."""
    return {name: of_distribution(name) for name in sorted(_closure(requirements))}


def of_duetime() -> dict[str, str]:
    """Return the licences of the runtime dependencies, with all extras."""
    extras = (requirement for extra in EXTRAS.values() for requirement in extra)
    return of_python([*PYPROJECT["project"]["dependencies"], *extras])


def of_npm() -> dict[str, str]:
    """Return the licence of each locked npm package."""
    return {
        path.rpartition("node_modules/")[2]: entry.get("license", "")
        for path, entry in NPM_LOCK["packages"].items()
        if path
    }


def of_distribution(name: str) -> str:
    """Return its SPDX expression, from the metadata or from older fields."""
    fields = metadata.metadata(name)
    classifiers = [
        classifier.rpartition(" :: ")[2]
        for classifier in fields.get_all("Classifier") or ()
        if classifier.startswith("License")
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
    line = licence_text.strip().partition("\n")[0]  # some have the full text
    return _OTHER_SPELLINGS.get(line.lower(), line)


def _closure(requirements: Iterable[str]) -> set[str]:
    """Return all required distributions under this environment's markers, extras of extras included."""
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(requirement) for requirement in requirements]
    while waiting:
        requirement = waiting.pop()
        for extra in {"", *requirement.extras}:
            if (normal(requirement.name), extra) not in found:
                found.add((normal(requirement.name), extra))
                waiting.extend(_required_by(requirement.name, extra))
    return {name for name, _ in found}


def _required_by(name: str, extra: str) -> Iterator[Requirement]:
    for requirement in map(Requirement, metadata.requires(name) or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement
