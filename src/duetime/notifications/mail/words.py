"""The words of one language: a file that is checked against the needs of mails when it is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from duetime.errors import DeclarationError
from duetime.model.notification import Severity
from duetime.model.undelivered import UndeliveredKind
from duetime.notifications.mail.shape import every, path, shape

DIRECTORY = Path(__file__).with_name("languages")
FALLBACK = "en"
"""The language of mails whose requested language has no words."""

VARIABLE = re.compile(r"\{\{(\w+)\}\}", re.ASCII)
_TAG = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?", re.ASCII)
_NONE: frozenset[str] = frozenset()
_FOOTER = frozenset({"address", "tenant", "kind"})


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one language, by their path in its file, such as ``labels.tenant``."""

    language: str
    texts: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.texts[name]

    def get(self, name: str) -> str | None:
        """Return a word, or `None` if mails have none of that name."""
        return self.texts.get(name)


def languages(directory: Path = DIRECTORY) -> tuple[str, ...]:
    """Return the languages that have words: a file each in `directory`."""
    return tuple(sorted(file.stem for file in directory.glob("*.toml")))


def mail_language(language: str, directory: Path = DIRECTORY) -> str:
    """Return the language used for a requested one: ``fr`` for ``fr-CA``, English if it has no words."""
    known = languages(directory)
    return next((tag for tag in (language, language.partition("-")[0]) if tag in known), FALLBACK)


def words_in(language: str, directory: Path = DIRECTORY) -> Wording:
    """Return the words in that language, or in the one used in its place.

    Raises:
        DeclarationError: the file is not what mails need.
    """
    file = directory / f"{mail_language(language, directory)}.toml"
    if not file.exists():
        raise DeclarationError(f"{file.name}: is missing; mails need it, so restore it")
    return read(file)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace the variables of a text by their values. Braces in a value stay as they are."""
    return VARIABLE.sub(lambda found: values[found[1]], text)


@lru_cache(maxsize=32)
def read(file: Path) -> Wording:
    """Read the words in a file.

    Raises:
        DeclarationError: it is not what mails need.
    """
    try:
        texts = dict(_flat(tomllib.loads(file.read_text(encoding="utf-8"))))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{file.name}: is no TOML in UTF-8: {error}") from error
    problems = [*_problems(texts, needed(file.stem))]
    if not _TAG.fullmatch(file.stem):
        problems.insert(0, "is not named for a language; name it as in de.toml or de-AT.toml")
    if problems:
        raise DeclarationError(f"{file.name}: {'; '.join(problems)}")
    return Wording(file.stem, texts)


def needed(language: str) -> dict[str, frozenset[str]]:
    """Return every word that a language must have, with the variables that it may use."""
    words = {
        "layout.direction": _NONE,
        "layout.colon": _NONE,
        "layout.next": _NONE,
        "layout.console": _NONE,
        "layout.why": _FOOTER,
        "layout.stop": _FOOTER,
        "layout.others": frozenset({"count"}),
        **{f"severity.{severity}": _NONE for severity in Severity},
        **{f"things.{kind}": _NONE for kind in UndeliveredKind},
        **{f"missing.{name}": _NONE for name in ("reason", "correlation_id", "job", "action", "other")},
    }
    if language == FALLBACK:
        words["layout.fallback"] = frozenset({"language"})
    for kind, is_digest in every():
        mail, section = shape(kind, is_digest=is_digest), path(kind, is_digest=is_digest)
        words |= {f"labels.{row}": _NONE for row in mail.rows}
        words |= {f"{section}.{name}": mail.variables for name in ("subject", "heading", "sentence")}
        words |= {f"{section}.{step}": _NONE for step in mail.steps}
    return words


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield above + name, value


def _problems(texts: Mapping[str, Any], words: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for name in sorted(words.keys() - texts.keys()):
        yield f"{name} is missing; add it as {FALLBACK}.toml has it"
    for name, text in texts.items():
        if name not in words:
            yield f"{name} is not a word of mails; {_meant(name, words)}"
        elif not isinstance(text, str) or not text.strip():
            yield f"{name} is {text!r}; write it in words"
        elif VARIABLE.sub("", text).translate(_FORBIDDEN) != VARIABLE.sub("", text):
            yield (
                f"{name} has a brace, a backslash or a line break;"
                " allowed is one line, with variables as {{tenant}}"
            )
        elif unknown := set(VARIABLE.findall(text)) - words[name]:
            yield f"{name} uses {_shown(unknown)}; it may use {_shown(words[name])}"
    if texts.get("layout.direction", "ltr") not in ("ltr", "rtl"):
        yield f"layout.direction is {texts['layout.direction']!r}; write 'ltr' or 'rtl'"


_FORBIDDEN = dict.fromkeys(map(ord, "{}\\\n\r\t"))


def _meant(name: str, words: Mapping[str, frozenset[str]]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a wrong file

    close = get_close_matches(name, words, n=1, cutoff=0.8)
    return f"use {close[0]}" if close else "remove it"


def _shown(variables: frozenset[str] | set[str]) -> str:
    return ", ".join(f"{{{{{variable}}}}}" for variable in sorted(variables)) or "no variable"
