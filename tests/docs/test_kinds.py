"""docs/architecture.md lists the kinds of keyed items as the code states them."""

from tests.docs.kinds_table import kinds, shown, table


def test_the_page_lists_each_kind_as_the_code_states_it():
    assert shown() == table(), "python -m tests.docs.kinds_table writes the table"


def test_each_kind_has_a_name_of_its_own():
    names = [kind.name for kind in {*kinds()}]
    assert len(names) == len(set(names))


def test_a_guard_names_fields_of_its_kind():
    for kind in kinds():
        assert {*kind.guard} <= {*kind.names}
