"""The words of one language: a file that is checked against what the mails need when it is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from duetime.errors import DuetimeError
from duetime.model.notification import Severity
from duetime.model.undelivered import UndeliveredKind
from duetime.notifications.mail.shape import every, path, shape

DIRECTORY = Path(__file__).with_name("languages")
FALLBACK = "en"
"""Told where there are no words in the language that was asked for."""

VARIABLE = re.compile(r"\{\{(\w+)\}\}", re.ASCII)
_TAG = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?", re.ASCII)
_NONE: frozenset[str] = frozenset()
_FOOTER = frozenset({"address", "tenant", "kind"})


class LanguageRejected(DuetimeError, ValueError):
    """A language's file lacks words, has too many, or uses what no such notification has; each is named."""

    code = "language-refused"

    def __init__(self, file: str, problems: Sequence[str]) -> None:
        self.file, self.problems = file, tuple(problems)
        super().__init__(f"{file}: " + "; ".join(self.problems))


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one language, by their path in its file: ``labels.tenant``."""

    language: str
    texts: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.texts[name]

    def get(self, name: str) -> str | None:
        """The word, if mails have one of that name."""
        return self.texts.get(name)


def languages() -> tuple[str, ...]:
    """The languages that there are words in."""
    return tuple(sorted(file.stem for file in DIRECTORY.glob("*.toml")))


def told_in(language: str) -> str:
    """The language whose words are told: of ``fr-CA`` that is ``fr``; where there are none, English."""
    known = languages()
    return next((each for each in (language, language.partition("-")[0]) if each in known), FALLBACK)


def words_in(language: str) -> Wording:
    """The words in that language, or in the one that is told in its place.

    Raises:
        LanguageRefused: the file is not what mails need.
    """
    file = DIRECTORY / f"{told_in(language)}.toml"
    if not file.exists():
        raise LanguageRejected(file.name, ["is missing; without it nothing can be told"])
    return read(file)


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables' values. What a value itself holds stays as it is."""
    return VARIABLE.sub(lambda found: values[found[1]], text)


@lru_cache(maxsize=32)
def read(file: Path) -> Wording:
    """The words in a file.

    Raises:
        LanguageRefused: it is not what mails need.
    """
    try:
        texts = dict(_flat(tomllib.loads(file.read_text(encoding="utf-8"))))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LanguageRejected(file.name, [f"is no TOML in UTF-8: {error}"]) from error
    problems = [*_problems(texts, needed(file.stem))]
    if not _TAG.fullmatch(file.stem):
        problems.insert(0, "is not named for a language; name it as in de.toml or de-AT.toml")
    if problems:
        raise LanguageRejected(file.name, problems)
    return Wording(file.stem, texts)


def needed(language: str) -> dict[str, frozenset[str]]:
    """Every word that a language must have, and the variables that it may use."""
    words = {
        "layout.direction": _NONE,
        "layout.colon": _NONE,
        "layout.next": _NONE,
        "layout.console": _NONE,
        "layout.why": _FOOTER,
        "layout.stop": _FOOTER,
        "layout.others": frozenset({"count"}),
        **{f"severity.{each}": _NONE for each in Severity},
        **{f"things.{each}": _NONE for each in UndeliveredKind},
        **{f"missing.{name}": _NONE for name in ("reason", "correlation_id", "job", "action", "other")},
    }
    if language == FALLBACK:
        words["layout.fallback"] = frozenset({"language"})
    for kind, is_digest in every():
        made, where = shape(kind, is_digest=is_digest), path(kind, is_digest=is_digest)
        words |= {f"labels.{row}": _NONE for row in made.rows}
        words |= {f"{where}.{name}": made.variables for name in ("subject", "heading", "sentence")}
        words |= {f"{where}.{step}": _NONE for step in made.steps}
    return words


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, each in table.items():
        if isinstance(each, dict):
            yield from _flat(each, f"{above}{name}.")
        else:
            yield above + name, each


def _problems(texts: Mapping[str, Any], words: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for name in sorted(words.keys() - texts.keys()):
        yield f"{name} is missing; say it as {FALLBACK}.toml does"
    for name, text in texts.items():
        if name not in words:
            yield f"{name} is no word of a mail; {_meant(name, words)}"
        elif not isinstance(text, str) or not text.strip():
            yield f"{name} is {text!r}; say it in words"
        elif VARIABLE.sub("", text).translate(_FORBIDDEN) != VARIABLE.sub("", text):
            yield f"{name} has a brace, a backslash or a line break; allowed is one line, with variables as {{{{tenant}}}}"
        elif unknown := set(VARIABLE.findall(text)) - words[name]:
            yield f"{name} uses {_shown(unknown)}; it may use {_shown(words[name])}"
    if texts.get("layout.direction", "ltr") not in ("ltr", "rtl"):
        yield f"layout.direction is {texts['layout.direction']!r}; say 'ltr' or 'rtl'"


_FORBIDDEN = dict.fromkeys(map(ord, "{}\\\n\r\t"))


def _meant(name: str, words: Mapping[str, frozenset[str]]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only of a file that is wrong

    close = get_close_matches(name, words, n=1, cutoff=0.8)
    return f"{close[0]} is one" if close else "remove it"


def _shown(variables: frozenset[str] | set[str]) -> str:
    return ", ".join(f"{{{{{variable}}}}}" for variable in sorted(variables)) or "no variable"
