"""The page about cadences is correct."""

from __future__ import annotations

import csv
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cadences.md"
DATA = Path(__file__).parent / "data"


def test_the_examples_run():
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(block, {})  # noqa: S102 - our own page


def test_the_page_has_the_numbers_of_facts_in_the_data():
    counts = [
        len(list(csv.DictReader((DATA / name).read_text().splitlines())))
        for name in ("dst.csv", "language.csv")
    ]

    assert f"{counts[0]} about clock changes, {counts[1]} about the language" in PAGE.read_text()
