"""Trying a cadence.

What it means, when it is due, what the clocks do to it, what may surprise, and where it cannot be read.
"""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.console.browser import PATIENCE, flaws, scrolls_sideways, signed_in

SPRING = "#/cadences?cadence=30 2 * * *&tz=Europe/Paris&from=2027-03-26"
GAP = "2027-03-28"


def field(page, name="Cadence"):
    return page.get_by_role("textbox", name=name)


def part(page, name):
    return page.get_by_role("region", name=name)


def rows(page):
    return page.locator("table.occurrences tbody tr")


def test_typed_text_is_shown_in_words_and_times_and_stored_in_the_address(reader):
    page = reader.go("#/cadences")
    expect(page.get_by_text("Write a cadence")).to_be_visible()
    field(page).fill("0 9 * * mon-fri")
    meaning = part(page, "What it means")
    expect(meaning).to_contain_text("at 09:00, on Monday to Friday, Europe/Paris time", timeout=PATIENCE)
    expect(meaning).to_contain_text("cron 0 9 * * MON-FRI tz=Europe/Paris")
    expect(part(page, "The next 20 times").get_by_role("row")).to_have_count(21)
    expect(rows(page).first).to_contain_text("09:00:00")
    expect(page.get_by_role("img", name=re.compile("Due on 2[0-5] of 35 days"))).to_be_visible()
    expect(page).to_have_url(re.compile(r"cadence=0\+9.*mon-fri&tz=Europe%2FParis"))
    page.reload()
    expect(field(page)).to_have_value("0 9 * * mon-fri")
    expect(meaning).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("cadence", "at_fault", "why"),
    [
        ("0 9 * * zzz", "zzz", "day-of-week: 'ZZZ' is not one of its values; use 0-7 or SUN-SAT"),
        ("daily 09:00 tz=Mars/X", "Mars/X", "there is no time zone 'Mars/X'"),
    ],
)
def test_an_unreadable_part_is_marked_with_the_remedy(reader, cadence, at_fault, why):
    reader.expected = ("400",)
    page = reader.go("#/cadences")
    field(page).fill(cadence)
    refusal = page.get_by_role("status").filter(has_text="This cannot be read")
    expect(refusal).to_contain_text(why, timeout=PATIENCE)
    expect(refusal.get_by_label("The place at fault")).to_have_text(at_fault)
    expect(refusal.locator("pre")).to_have_text(cadence)
    field(page).fill("daily 09:00")
    expect(part(page, "What it means")).to_be_visible(timeout=PATIENCE)
    expect(refusal).to_have_count(0)


@pytest.mark.parametrize(
    ("cadence", "day", "mark", "note"),
    [
        ("30 2 * * *", "2027-03-28", "moved", "02:30 did not exist; the clocks went forward to 03:00"),
        ("30 2 * * *", "2027-10-31", "once", "02:30 comes twice; only the first pass runs"),
        ("0 * * * *", "2027-10-31", "doubled", "02:00 came twice; this is the second pass"),
        ("30 2 * * * dst=eventbridge", "2027-03-28", "skipped", "and it is not due"),
    ],
)
def test_a_clock_change_is_marked_and_explained(reader, cadence, day, mark, note):
    page = reader.go(f"#/cadences?cadence={cadence}&tz=Europe/Paris&from={day}")
    shown = rows(page).filter(has_text=note)
    expect(shown).to_contain_text(mark, timeout=PATIENCE)
    expect(page.locator("svg.days title").filter(has_text="the clocks are changed")).to_have_count(1)


def test_later_clock_changes_are_listed(reader):
    page = reader.go(SPRING)
    ahead = part(page, "Changes of the clocks ahead").get_by_role("listitem")
    expect(ahead).to_have_count(2, timeout=PATIENCE)
    expect(ahead.first).to_contain_text("31 Oct 2027, 02:30:00 +02:00")
    expect(ahead.first).to_contain_text("only the first pass runs")
    expect(ahead.last).to_contain_text("26 Mar 2028, 03:00:00 +02:00")
    expect(ahead.last).to_contain_text("moved")


def test_without_clock_changes_and_surprises_there_is_no_note(reader):
    page = reader.go("#/cadences?cadence=daily 09:00&tz=Europe/Paris")
    expect(rows(page)).to_have_count(20, timeout=PATIENCE)
    for name in ("Changes of the clocks ahead", "What may surprise"):
        expect(part(page, name)).to_have_count(0)
    expect(part(page, "What it means")).not_to_contain_text("Second opinion")


NOTED = [
    (
        "*/7 * * * *",
        "from minute 56 to the next 0 it is 4 minutes",
        "de la minute 56 au 0 suivant, il y a 4 minutes",
    ),
    ("0 */23 * * *", "from hour 23 to the next 0 it is one hour", "de 23 h au 0 suivant, il y a une heure"),
    ("0 0 31 * *", "A month without a day 31 is passed over", "Un mois sans jour 31 est sauté"),
    ("0 0 1,31 * *", "A month without a day 31 has no run for it", "n’a pas d’exécution ce jour-là"),
    (
        "0 12 * * ? *",
        "is EventBridge's, which begin with the minute",
        "une expression d’EventBridge, qui commence",
    ),
    (
        "0 0 12 ? * 2-6",
        "In day-of-week 2-6 Sunday is 0 or 7",
        "Dans le jour de semaine 2-6, dimanche est 0 ou 7",
    ),
]
OPINIONS = [
    ("30 2 * * *", "croniter agrees", "croniter est d’accord"),
    ("0 0 15W * *", "does not know W", "ne connaît pas W"),
    ("0 0 * * FRI#1,MON", "stand alone", "que s’ils sont seuls"),
    ("0 0 * * FRI/2", "ends FRI/2 on Saturday", "arrête FRI/2 au samedi"),
    ("0 22-2 * * *", "a range that wraps", "un intervalle qui revient"),
]


LANGUAGES = pytest.mark.parametrize("language", ["en-GB", "fr-FR"])


@LANGUAGES
def test_surprises_are_explained(reader_of, cloud, language):
    reader, title = (
        reader_of(cloud.url, locale=language),
        re.compile("What may surprise|Ce qui peut surprendre"),
    )
    for cadence, english, french in NOTED:
        shown = part(reader.go(f"#/cadences?cadence={quote(cadence)}&tz=UTC"), title)
        expect(shown).to_contain_text(french if language == "fr-FR" else english, timeout=PATIENCE)
        expect(shown.locator("[lang]")).to_have_count(0)


@LANGUAGES
def test_a_cron_expression_shows_the_second_opinion(reader_of, cloud, language):
    reader, title = reader_of(cloud.url, locale=language), re.compile("Second opinion|Deuxième avis")
    for cadence, english, french in OPINIONS:
        facts = reader.go(f"#/cadences?cadence={quote(cadence)}&tz=UTC").locator(".cadence-top .facts")
        expect(facts).to_contain_text(french if language == "fr-FR" else english, timeout=PATIENCE)
        expect(facts).to_contain_text(title)
        expect(facts.locator("[lang]")).to_have_count(0)


def test_a_difference_to_croniter_is_shown(reader):
    def otherwise(item):
        differs = {
            "second_opinion": "croniter disagrees",
            "disagreements": ["after noon: 1, but croniter says 2"],
        }
        return item | {"body": item["body"] | differs}

    reader.answer_read("/jobs/preview", otherwise)
    meaning = part(reader.go("#/cadences?cadence=30 2 * * *"), "What it means")
    expect(meaning).to_contain_text("croniter disagrees", timeout=PATIENCE)
    expect(meaning).to_contain_text("after noon: 1, but croniter says 2")


def test_the_day_links_to_the_next_clock_change_and_back_to_now(reader):
    page = reader.go("#/cadences?cadence=30 2 * * *&tz=Europe/Paris&from=2027-03-01")
    day = page.get_by_label("From", exact=True)
    for found in ("2027-03-27", "2027-10-30"):
        page.get_by_role("button", name="Next clock change").click()
        expect(day).to_have_value(found)
    expect(rows(page).filter(has_text="only the first pass runs")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="From now").click()
    expect(day).to_have_value("")
    expect(page.get_by_role("button", name="From now")).to_be_disabled()
    expect(page).not_to_have_url(re.compile("from="))


def test_a_zone_without_clock_changes_is_reported(reader):
    page = reader.go("#/cadences")
    page.get_by_role("combobox", name="Zone").fill("Asia/Tokyo")
    page.get_by_role("button", name="Next clock change").click()
    expect(
        page.get_by_text("The clocks of Asia/Tokyo are not changed within the next 400 days")
    ).to_be_visible()


def test_another_zone_shows_the_readers_time_beside_its_own(reader):
    page = reader.go("#/cadences?cadence=daily 09:00&tz=Asia/Tokyo&from=2027-01-10")
    expect(page.get_by_role("columnheader", name="In Asia/Tokyo")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("columnheader", name="For you, in Europe/Paris")).to_be_visible()
    expect(rows(page).first).to_contain_text("09:00:00")
    expect(rows(page).first).to_contain_text("01:00:00")
    expect(rows(page).first).to_contain_text("+09:00")


def test_the_zone_in_the_expression_overrides_the_field(reader):
    page = reader.go("#/cadences")
    field(page).fill("daily 09:00 tz=Asia/Tokyo")
    expect(page.get_by_text("The expression names its own zone, Asia/Tokyo")).to_be_visible()
    expect(page.get_by_role("columnheader", name="In Asia/Tokyo")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("cadence", ["manual", "once 2020-01-01T00:00"])
def test_a_cadence_that_is_never_due_again_is_reported(reader, cadence):
    page = reader.go(f"#/cadences?cadence={cadence}")
    expect(page.get_by_text("No next time")).to_be_visible(timeout=PATIENCE)


def test_each_example_is_read(reader):
    page = reader.go("#/cadences")
    examples = page.get_by_role("list", name="Examples").get_by_role("link")
    expect(examples).to_have_count(6)
    for index in range(6):
        written = examples.nth(index).inner_text()
        examples.nth(index).click()
        expect(field(page)).to_have_value(written)
        expect(page.locator(".cadence-result[aria-busy=false]")).to_be_visible(timeout=PATIENCE)
        expect(rows(page)).to_have_count(20)


def test_the_normal_form_is_copied(reader):
    page = reader.go("#/cadences?cadence=0 9 * * mon-fri&tz=UTC")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the normal form").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "cron 0 9 * * MON-FRI tz=UTC"


def test_a_browser_that_forbids_copying_gets_a_message(reader):
    page = reader.go("#/cadences?cadence=manual")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    page.get_by_role("button", name="Copy the normal form").click()
    expect(page.get_by_role("alert").get_by_role("paragraph")).to_have_text(
        "The browser does not let this page copy."
    )


def test_too_many_times_are_counted_up_to_a_stated_day(reader):
    page = reader.go("#/cadences?cadence=every 5m&tz=UTC&from=2027-01-10")
    expect(page.get_by_text("More than 500 times: counted up to 11 Jan")).to_be_visible(timeout=PATIENCE)


def test_a_user_without_the_permission_sees_the_reason(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("eve", groups="guests"))
    reader.expected = ("403",)
    page = reader.go("#/cadences?cadence=daily 09:00")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("link", name="Try a cadence")).to_have_count(0)


def test_it_is_in_french(reader_of, cloud):
    page = reader_of(cloud.url, locale="fr-FR").go(SPRING)
    expect(page.get_by_role("heading", level=1)).to_have_text("Essai de cadence")
    expect(page.get_by_role("heading", name="Les 20 prochaines échéances")).to_be_visible(timeout=PATIENCE)
    expect(rows(page).filter(has_text="déplacée")).to_contain_text("02:30 n’existait pas")
    expect(part(page, "Changements d’heure à venir")).to_contain_text("seul le premier passage compte")
    expect(page.get_by_role("button", name="Prochain changement d’heure")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_times_and_errors_are_accessible(reader_of, cloud, scheme):
    reader = reader_of(cloud.url, color_scheme=scheme)
    reader.expected = ("400",)
    page = reader.go(SPRING)
    expect(rows(page)).to_have_count(20, timeout=PATIENCE)
    assert flaws(page) == []
    field(page).fill("*/7 * * * *")
    expect(part(page, "What may surprise")).to_be_visible(timeout=PATIENCE)
    assert flaws(page) == []
    field(page).fill("0 9 * * zzz")
    expect(page.get_by_text("This cannot be read")).to_be_visible(timeout=PATIENCE)
    assert flaws(page) == []


def test_it_fits_a_phone(reader_of, cloud):
    page = reader_of(cloud.url, viewport={"width": 360, "height": 800}).go(SPRING)
    expect(rows(page)).to_have_count(20, timeout=PATIENCE)
    assert not scrolls_sideways(page)
