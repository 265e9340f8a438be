"""docs/security.md states for each attribute of an item what a forged value changes."""

import re
from pathlib import Path

from tests.hostile.attributes import beside_rows, of_jobs, of_rows, unset_fields

PAGE = Path("docs/security.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("### Forged rows")[2].partition("\n## ")[0]


def test_every_field_of_an_action_is_in_a_specimen():
    assert unset_fields() == set()


def test_the_page_has_each_attribute_and_no_other():
    lines = SECTION.partition("```text")[2].partition("```")[0].splitlines()
    listed = {name for line in lines for name in re.split(r"\S  +|^ +", line, maxsplit=1)[-1].split()}
    assert listed == of_rows() | beside_rows() | of_jobs()
