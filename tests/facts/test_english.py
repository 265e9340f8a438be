"""Words that depend on a number: one helper forms all plurals and ordinals."""

import re

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
    ],
)
def test_a_number_stands_with_its_noun(number, noun, expected):
    assert counted(number, noun) == expected


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
