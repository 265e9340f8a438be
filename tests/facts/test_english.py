"""Words that depend on a number: one helper forms all plurals and ordinals."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from duetime._english import counted, ordinal, plural
from tests.supply.project import ROOT


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (0, "job", "0 jobs"),
        (1, "job", "1 job"),
        (2, "nominal time", "2 nominal times"),
        (-1, "day", "-1 days"),
        (2, "day", "2 days"),
        (2, "entry", "2 entries"),
        (1, "entry", "1 entry"),
        (3, "batch", "3 batches"),
        (2, "address", "2 addresses"),
        (0.5, "day", "0.5 days"),
    ],
)
def test_a_number_stands_with_its_noun(number, noun, expected):
    assert counted(number, noun) == expected


def test_a_number_has_the_style_that_is_given():
    assert counted(1_000, "job", ",") == "1,000 jobs"
    assert counted(1.0, "day", "g") == "1 day"


def test_a_fraction_has_the_plural():
    assert (plural(0.5, "run"), plural(1.0, "run")) == ("runs", "run")


def test_ordinals_end_as_they_are_spoken():
    ends = {
        "st": [1, 21, 101],
        "nd": [2, 22, 102],
        "rd": [3, 23],
        "th": [0, 4, 11, 12, 13, 20, 111, 112, 113],
    }
    for end, numbers in ends.items():
        assert [ordinal(number) for number in numbers] == [f"{number}{end}" for number in numbers]


_NOT_COUNTED = {
    "operation actions", "allowed actions", "values runs",  # no numbers
    "step hours", "count times", "calls calls", "len(args.cadence) words", "len(given) entries",  # never 1
    "len(met[1]) jobs", "action.continued times", "len(texts) times", "len(entries) entries",
    "len(self.backoff) entries", "len(distinct) entries", "len(times) times",
}  # fmt: skip
"""What precedes a noun and needs no helper, by the text of the expression."""


def _helped(tree: ast.AST) -> Iterator[str]:
    """Yield the nouns that a module gives to the helper."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="counted" | "plural"), args=[_, ast.Constant(value=str(noun)), *_]
            ):
                yield noun


def _direct(tree: ast.AST, plurals: set[str]) -> Iterator[str]:
    """Yield each value of an f-string with the plural that follows it.

    Left out are constants; the parts of a conditional expression, which may exclude 1; and texts that name a
    limit, since they report numbers above it.
    """
    noun = re.compile(rf" ({'|'.join(sorted(plurals))})\b")
    chosen = {id(part) for node in ast.walk(tree) if isinstance(node, ast.IfExp) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in chosen and "at most" not in ast.unparse(node):
            for value, text in pairwise(node.values):
                if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                    found, written = noun.match(str(text.value)), ast.unparse(value.value)
                    if found and not re.search(r"\b_?[A-Z]{2}", written):
                        yield written + found[0]


def test_a_noun_that_the_helper_knows_never_follows_a_number_directly():
    package = ROOT / "src/duetime"
    trees = {
        str(path.relative_to(package)): ast.parse(path.read_text())
        for path in package.rglob("*.py")
        if path.name != "_english.py" and "testing" not in path.parts
    }
    plurals = {plural(2, noun) for tree in trees.values() for noun in _helped(tree)}
    assert {"nominal times", "queues"} <= plurals
    found = {(name, text) for name, tree in trees.items() for text in _direct(tree, plurals)}
    assert {text for _, text in found} >= _NOT_COUNTED, "an exception has gone"
    assert [one for one in sorted(found) if one[1] not in _NOT_COUNTED] == []


def test_no_other_module_forms_a_plural_or_an_ordinal():
    by_hand = re.compile(r"""['"]e?s['"] ?(?:if|\*)|else ['"]e?s['"]|\}th\b|['"]th['"]|\w\(s\)""")
    package = ROOT / "src/duetime"
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text().splitlines()
        if path.name != "_english.py" and by_hand.search(line)
    ]
    assert found == []
