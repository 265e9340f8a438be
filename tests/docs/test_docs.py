"""What the documentation says is held against the code: its examples run, its diagrams and links are true."""

import re
from pathlib import Path

import boto3
import pytest

from duetime.aws import conditions, items
from duetime.model.action import TRANSITIONS, SkipReason, Status
from tools import rooms

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
pytest_plugins = ()


def _ids(pages):
    return [str(page.relative_to(ROOT)) for page in pages]


def _blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if _blocks(p, "python")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_the_examples_of_a_page_run_from_top_to_bottom(page, deployed):
    boto3.client("dynamodb").create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    code = "\n".join(_blocks(page, "python"))
    exec(compile(code, str(page.relative_to(ROOT)), "exec"), {"__name__": "example"})  # noqa: S102 - our own pages


def test_the_first_example_of_the_readme_fits_on_a_screen():
    [example, *_] = _blocks(ROOT / "README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 15


def test_the_state_diagram_shows_every_legal_change_and_no_other():
    [diagram] = _blocks(ROOT / "docs/lifecycle.md", "mermaid")
    drawn = set(re.findall(r"(\w+) --> (\w+):", diagram))
    stays = {("pending", "pending"), ("processing", "processing")}
    legal = {(start.value, end.value) for start, ends in TRANSITIONS.items() for end in ends}
    assert drawn == legal | stays
    finals = set(re.findall(r"(\w+) --> \[\*\]", diagram))
    assert finals == {status.value for status, ends in TRANSITIONS.items() if not ends}
    assert {start for start, _ in drawn} | finals == {status.value for status in Status}


def test_the_page_on_the_life_of_an_action_lists_every_reason_of_a_skip():
    table = (
        (ROOT / "docs/lifecycle.md").read_text().partition("| skipped as | because |")[2].partition("\n\n")[0]
    )
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(SkipReason)


def test_links_between_pages_lead_somewhere():
    assert [f"{page.relative_to(ROOT)}: {target}" for page in PAGES for target in _dead_links(page)] == []


def _dead_links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)", text):
        goal = (page.parent / target).resolve() if target else page
        if not goal.exists() or (anchor and anchor[1:] not in _slugs(goal)):
            yield target + anchor


def _slugs(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_the_modules_that_the_glossary_names_exist():
    named = re.findall(r"`([a-z_/]+\.py)`", (ROOT / "docs/glossary.md").read_text())
    assert named
    for module in named:
        assert (ROOT / "src/duetime" / module).is_file(), module


def test_the_picture_of_the_rooms_shows_the_import_rules():
    assert rooms.PICTURE.read_text() == rooms.picture()


def test_the_architecture_page_lists_every_attribute_of_a_row():
    source = Path(items.__file__).read_text() + Path(conditions.__file__).read_text()
    written = set(re.findall(r'item\["(\w+)"\] =', source)) | set(re.findall(r"SET (\w+) =", source))
    page = (ROOT / "docs/architecture.md").read_text()
    assert written
    for attribute in written:
        assert re.search(rf"(?:^|[ `]){attribute}(?:[ `]|$)", page, re.MULTILINE), attribute


def test_every_function_has_a_sample_event():
    functions = {entry.stem for entry in (ROOT / "functions").glob("*.py")}
    samples = {page.stem.partition("-")[0] for page in (ROOT / "events").glob("*.json")}
    assert functions == samples
