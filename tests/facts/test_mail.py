"""What mails say, in each language, whatever the facts hold."""

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from shutil import copy

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duetime import mail as mails
from duetime.action import Action
from duetime.action_events import told_of_row
from duetime.cli.main import parser
from duetime.job import Definition, Job, JobRef, Origin
from duetime.job_events import JobChange, of_job
from duetime.lifecycle import of_undelivered
from duetime.mail import (
    LanguageRefused,
    TemplateVariableMissing,
    languages,
    layout,
    mail_of,
    rendered,
    templates,
    words,
    words_of,
)
from duetime.mail.layout import DARK, LIGHT
from duetime.mail.samples import sample, samples
from duetime.mail.shape import every, path, shape
from duetime.mail.templates import name
from duetime.mail.values import steps_of
from duetime.notification import Digest, NotificationKind, Severity
from duetime.settings import Settings
from duetime.tally import Tally
from duetime.undelivered import Kind, Undelivered, undelivered_id

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
PLAIN = Settings()
WITH_CONSOLE = Settings(console_url="https://console.example.com")
FAILED = sample(NotificationKind.ACTION_FAILED, is_digest=False)
EVERY = [(notification, language) for notification in samples() for language in languages()]
each_mail = pytest.mark.parametrize(
    ("notification", "language"),
    EVERY,
    ids=[f"{each.kind}{'.digest' * each.is_digest}-{language}" for each, language in EVERY],
)


def arrived(notification, language="en", settings=PLAIN):
    """The mail as it arrives."""
    mail = mail_of(notification, address="ada@acme.example", language=language, settings=settings)
    [template] = [each for each in templates(settings.prefix) if each.name == mail.template]
    return rendered(template, mail.data)


def with_facts(notification=FAILED, **facts):
    return replace(notification, facts={**notification.facts, **facts})


class Page(HTMLParser):
    """What a reader of HTML sees: its elements, and its words."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.words, self.attributes = [], "", {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes.setdefault(tag, []).append(dict(attrs))

    def handle_data(self, data):
        self.words += data


class TestAMail:
    @each_mail
    def test_says_all_that_it_has_as_text_and_as_html(self, notification, language):
        made = arrived(notification, language, WITH_CONSOLE)
        data = mail_of(
            notification, address="ada@acme.example", language=language, settings=WITH_CONSOLE
        ).data
        known, seen = words.words_in(language), Page(made.html)
        told = shape(notification.kind, is_digest=notification.is_digest)
        assert made.subject
        for row in told.rows:
            label = known[f"labels.{row}"]
            assert label in made.text
            assert label in seen.words
            assert data[row]
            assert data[row] in made.text
            assert data[row].replace("\n", "") in seen.words
        for step in told.steps:
            assert f"  {data[step]}\n" in made.text
            assert data[step] in seen.words
        for each in (
            "ada@acme.example",
            str(notification.kind),
            known[f"severity.{notification.kind.severity}"],
        ):
            assert each in made.text
            assert each in seen.words
        assert seen.attributes["html"] == [{"lang": language, "dir": "ltr"}]
        assert "{{" not in made.subject + made.text + made.html
        assert not {"table", "script", "img"} & set(seen.elements)

    @each_mail
    def test_has_a_link_where_the_console_is_and_none_elsewhere(self, notification, language):
        with_link, without = arrived(notification, language, WITH_CONSOLE), arrived(notification, language)
        [link] = Page(with_link.html).attributes["a"]
        assert link["href"].startswith("https://console.example.com/#/")
        assert link["href"] in with_link.text
        assert "a" not in Page(without.html).elements
        assert "https:" not in without.text

    def test_leads_to_the_page_of_its_action(self):
        assert (
            f"https://console.example.com/#/actions/{FAILED.facts['id']}"
            in arrived(FAILED, "en", WITH_CONSOLE).text
        )

    def test_leads_there_below_whatever_path_the_console_is_at(self):
        below = Settings(console_url="https://a1b2.execute-api.eu-west-1.amazonaws.com/prod")
        assert f"{below.console_url}/#/actions/" in arrived(FAILED, "en", below).text

    @pytest.mark.parametrize("notification", samples(), ids=lambda each: each.id)
    def test_tells_commands_that_the_command_line_takes(self, notification):
        for command in steps_of(notification).values():
            program, *arguments = shlex.split(command)
            assert program == "duetime"
            assert callable(parser().parse_args(arguments).run)

    @pytest.mark.parametrize("language", languages())
    def test_tells_how_to_stop_such_mails_as_the_command_line_takes_it(self, language):
        command, option = re.findall("`([^`]+)`", words.words_in(language)["layout.stop"])
        program, *arguments = command.split()
        assert program == "duetime"
        assert parser().parse_args([*arguments, option]).system
        assert command in arrived(FAILED, language).text

    def test_tells_times_in_utc_as_people_read_them(self):
        assert "When: 2027-06-01 07:00:04 UTC" in arrived(FAILED).text

    def test_goes_to_the_address_by_the_template_of_its_kind_and_language(self):
        mail = mail_of(FAILED, address="ada@acme.example", language="fr", settings=PLAIN)
        assert (mail.address, mail.template) == (
            "ada@acme.example",
            "duetime-scheduling-action-failed-fr",
        )
        digest = sample(NotificationKind.RECURRING_FAILING, is_digest=True)
        mail = mail_of(digest, address="ada@acme.example", language="en", settings=Settings(prefix="a-"))
        assert mail.template == "a-jobs-recurring-failing-digest-en"

    def test_of_which_a_variable_is_missing_is_refused_before_it_is_sent(self):
        [template, *_] = templates("")
        data = dict.fromkeys(template.variables - {"reason_html", "tenant"}, "")
        with pytest.raises(TemplateVariableMissing, match=r"lacks: reason_html, tenant$") as refused:
            rendered(template, data)
        assert refused.value.variables == ("reason_html", "tenant")

    def test_whose_data_lacks_a_variable_of_its_layout_is_never_made(self, monkeypatch):
        monkeypatch.setattr(layout, "text", lambda *_, **__: "{{surprise}}")
        with pytest.raises(
            TemplateVariableMissing, match=r"action-failed-en needs what the mail lacks: surprise$"
        ):
            mail_of(FAILED, address="ada@acme.example", language="en", settings=PLAIN)

    @each_mail
    def test_says_in_words_what_is_not_known(self, notification, language):
        known = words.words_in(language)
        bare = replace(notification, facts=dict.fromkeys(notification.facts))
        for each in (bare, replace(notification, facts={})):
            data = mail_of(each, address="ada@acme.example", language=language, settings=WITH_CONSOLE).data
            told = shape(notification.kind, is_digest=notification.is_digest)
            for row in set(told.rows) - {"tenant", "when"}:
                assert data[row] in {
                    text for name, text in known.texts.items() if name.startswith("missing.")
                }
            assert "None" not in arrived(each, language, WITH_CONSOLE).text

    def test_without_a_reason_says_no_message(self):
        assert "Reason: no message" in arrived(with_facts(reason=None)).text
        assert "Motif\u00a0: aucun message" in arrived(with_facts(reason=" \n"), "fr").text

    def test_of_many_tells_the_most_frequent_first_and_counts_the_rest(self):
        digest = Digest(
            tenant_id="acme",
            kind=NotificationKind.ACTION_FAILED,
            since=NOON,
            until=NOON,
            total=1_000,
            by_name={f"type-{number:02}": number for number in range(1, 26)},
        )
        text = arrived(digest.notification()).text
        assert "Of each:\n25 × type-25\n24 × type-24\n" in text
        assert "\n6 × type-06\nand 15 more\n" in text

    def test_as_plain_words_is_the_same_without_link_and_foot(self):
        subject, text = words_of(FAILED, language="en")
        assert subject == arrived(FAILED).subject == "acme: send-reminder failed"
        assert arrived(FAILED).text.startswith(text)
        assert "preferences" not in text


class TestHostileValues:
    @given(st.text(st.characters(codec=None), max_size=700))
    @example("<script>alert(1)</script>")
    @example("</dd></dl><a href='https://evil.example'>")
    @example("{{tenant}} {{{tenant}}} {{#each}}")
    @example("first\r\nBcc: eve@evil.example\n\n.")
    @example("abc\u202egpj.exe\u2066")
    @example("x" * 10_000)
    @example("\ud800")
    @example("&lt;b&gt;")
    def test_a_value_is_told_as_it_is_on_one_line_and_changes_nothing_else(self, value):
        hostile = with_facts(reason=value, type=value, correlation_id=value)
        made, usual = arrived(hostile), arrived(FAILED)
        mail = mail_of(hostile, address="ada@acme.example", language="en", settings=PLAIN)
        reason = mail.data["reason"]
        assert Page(made.html).elements == Page(usual.html).elements
        assert unescape(mail.data["reason_html"]) == reason
        assert f"Reason: {reason}\n" in made.text
        assert reason in Page(made.html).words
        assert len(made.text.splitlines()) == len(usual.text.splitlines())
        assert len(reason) <= 500
        assert len(made.subject) <= 100
        assert not re.search(
            "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", made.subject + reason
        )
        json.dumps(dict(mail.data)).encode()
        made.text.encode()

    def test_what_a_value_holds_in_braces_is_not_rendered(self):
        made = arrived(with_facts(reason="{{tenant}} {{id_html}}"))
        assert "Reason: {{tenant}} {{id_html}}" in made.text
        assert "{{tenant}} {{id_html}}" in made.html

    def test_a_markup_is_text(self):
        assert "&lt;script&gt;" in arrived(with_facts(reason="<script>")).html

    @each_mail
    def test_a_subject_is_short_and_keeps_its_words_whatever_it_names(self, notification, language):
        facts = dict.fromkeys(notification.facts, "x" * 600) | {"by_name": {"x" * 600: 1}, "total": 1_000}
        long = replace(notification, tenant_id="t" * 600, facts=facts)
        subject = arrived(long, language).subject
        where = path(notification.kind, is_digest=notification.is_digest)
        assert len(subject) <= 100
        assert subject.endswith(words.words_in(language)[f"{where}.subject"].rpartition("}}")[2])

    def test_an_id_is_one_argument_of_its_command(self):
        assert steps_of(with_facts(id="a; rm -rf ~"))["look"] == "duetime actions show 'a; rm -rf ~'"

    def test_an_id_is_one_part_of_its_address(self):
        made = arrived(with_facts(id='a"/b c'), "en", WITH_CONSOLE)
        assert "https://console.example.com/#/actions/a%22%2Fb%20c" in made.text

    def test_a_digest_of_hostile_names_has_a_line_for_each(self):
        digest = with_facts(
            sample(NotificationKind.ACTION_FAILED, is_digest=True), by_name={"<b>\nx": 2, "": 1, "y" * 999: 1}
        )
        made = arrived(digest)
        assert "2 × <b> x\n1 × not known\n1 × yyy" in made.text
        assert "2 × &lt;b&gt; x<br>1 × not known<br>" in made.html


class TestLanguages:
    def test_there_are_english_and_french(self):
        assert languages() == ("en", "fr")

    def test_of_a_country_its_language_is_used(self):
        assert arrived(FAILED, "fr-CA") == arrived(FAILED, "fr")
        assert arrived(FAILED, "en-GB") == arrived(FAILED, "en")

    @pytest.mark.parametrize("asked", ["de", "de-AT", "../fr", "", "<b>"])
    def test_another_falls_back_to_english_and_says_so(self, asked):
        told = f"There are no words in '{asked}' yet; this is English."
        made = arrived(FAILED, asked)
        assert made.subject == arrived(FAILED, "en").subject
        assert made.text == f"{arrived(FAILED, 'en').text.rstrip()}\n{told}\n\n"
        assert told in Page(made.html).words

    def test_french_says_everything_in_other_words_than_english(self):
        english, french = words.words_in("en").texts, words.words_in("fr").texts
        alike = {name for name in french if english[name] == french[name]}
        assert alike == {"layout.direction", "labels.type", "labels.action"}
        assert english.keys() - french.keys() == {"layout.fallback"}

    def test_french_has_the_spaces_and_signs_of_french(self):
        for where, text in words.words_in("fr").texts.items():
            assert not re.search(r" [:;!?»]|« |[^\s][;!?]|[^\s]:|[\"']|\.\.\.", text), where
            assert "«" not in text or re.search("«\u00a0[^«»]+\u00a0»", text), where

    def test_a_third_one_is_one_file(self, with_german):
        german = (
            (words.DIRECTORY / "fr.toml").read_text().replace("Une action a échoué", "Eine Aktion scheiterte")
        )
        with_german(german)
        assert languages() == ("de", "en", "fr")
        assert len(templates("")) == 30
        assert "Eine Aktion scheiterte" in arrived(FAILED, "de-AT").text
        assert 'lang="de"' in arrived(FAILED, "de").html

    @pytest.mark.parametrize(
        ("written", "instead", "told"),
        [
            ('tenant = "Tenant"\n', "", "labels.tenant is missing; say it as en.toml does"),
            ('tenant = "Tenant"\n', 'tenant = "T"\ntenannt = "T"\n', "labels.tenannt is no word of a mail; labels.tenant is one"),
            ('tenant = "Tenant"\n', 'tenant = "T"\nqqqqqq = "T"\n', "labels.qqqqqq is no word of a mail; remove it"),
            ('tenant = "Tenant"\n', 'tenant = ""\n', "labels.tenant is ''; say it in words"),
            ('tenant = "Tenant"\n', "tenant = 7\n", "labels.tenant is 7; say it in words"),
            ('tenant = "Tenant"\n', 'tenant = "{Tenant"\n', "labels.tenant has a brace, a backslash or a line break"),
            ('tenant = "Tenant"\n', 'tenant = "A\\nB"\n', "labels.tenant has a brace, a backslash or a line break"),
            ('tenant = "Tenant"\n', 'tenant = "{{tenant}}"\n', r"labels.tenant uses {{tenant}}; it may use no variable"),
            ('{{type}} failed"', '{{job}} failed"', "scheduling.action_failed.subject uses {{job}}; it may use {{attempts}}, "),
            ('direction = "ltr"', 'direction = "up"', "layout.direction is 'up'; say 'ltr' or 'rtl'"),
            ('direction = "ltr"', "direction", "is no TOML in UTF-8"),
            ('{{total}} actions failed"', '{{type}} actions failed"', "scheduling.action_failed.digest.subject uses {{type}}; it may"),
        ],
    )  # fmt: skip
    def test_a_file_that_is_not_what_mails_need_is_refused_with_what_would_be_right(
        self, with_german, written, instead, told
    ):
        english = (words.DIRECTORY / "en.toml").read_text()
        assert written in english
        without_fallback = re.sub("^fallback = .*\n", "", english, flags=re.MULTILINE)
        with_german(without_fallback.replace(written, instead, 1))
        with pytest.raises(LanguageRefused) as refused:
            templates("")
        assert str(refused.value).startswith("de.toml: ")
        assert told in str(refused.value)

    def test_only_english_says_that_it_stands_in(self, with_german):
        with_german((words.DIRECTORY / "en.toml").read_text())
        with pytest.raises(LanguageRefused, match=r"de\.toml: layout\.fallback is no word of a mail"):
            mail_of(FAILED, address="ada@acme.example", language="de", settings=PLAIN)

    def test_a_subject_of_too_many_words_is_cut(self, with_german):
        with_german((words.DIRECTORY / "fr.toml").read_text().replace("échec de {{type}}", "scheitern " * 20))
        subject = arrived(FAILED, "de").subject
        assert len(subject) == 100
        assert subject.endswith("…")

    def test_a_file_is_named_for_its_language(self, tmp_path):
        with pytest.raises(
            LanguageRefused, match=r"^german\.toml: is not named for a language; name it as in de\.toml"
        ):
            words.read(Path(copy(words.DIRECTORY / "fr.toml", tmp_path / "german.toml")))

    @pytest.fixture
    def with_german(self, tmp_path, monkeypatch):
        """Puts a file of German beside the others."""

        def put(text):
            for file in words.DIRECTORY.glob("*.toml"):
                copy(file, tmp_path)
            (tmp_path / "de.toml").write_text(text)
            monkeypatch.setattr(words, "DIRECTORY", tmp_path)

        return put


class TestTemplates:
    def test_there_is_one_for_each_kind_single_and_digest_in_each_language(self):
        assert len({each.name for each in templates("duetime-")}) == len(NotificationKind) * 2 * len(
            languages()
        )

    @given(st.text("aZ9_-", max_size=40))
    @example("p" * 40)
    def test_their_names_are_within_limits_and_differ_whatever_the_prefix(self, prefix):
        named = [name(prefix, kind, "deu", is_digest=is_digest) for kind, is_digest in every()]
        assert len(set(named)) == len(named)
        for each in named:
            assert each.startswith(prefix)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each)

    def test_their_styles_hold_nothing_that_looks_like_a_variable(self):
        for each in templates(""):
            bare = re.sub(r"\{\{\w+\}\}", "", each.subject + each.text + each.html)
            assert "{{" not in bare
            assert "}}" not in bare

    def test_html_holds_only_what_is_escaped(self):
        for each in templates(""):
            assert all(found.endswith("_html") for found in re.findall(r"\{\{(\w+)\}\}", each.html))
            assert not any(
                found.endswith("_html") for found in re.findall(r"\{\{(\w+)\}\}", each.text + each.subject)
            )

    @pytest.mark.parametrize("tones", [LIGHT, DARK], ids=["light", "dark"])
    def test_letters_stand_out_from_what_is_behind_them_as_wcag_aa_asks(self, tones):
        assert tones.keys() >= {str(each) for each in Severity}
        for tone in tones.values():
            assert contrast(tone.ink, tone.ground) >= 4.5


def contrast(one, other):
    """The contrast ratio of two colours, as WCAG 2 defines it."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_facts_that_mails_tell_are_those_of_lifecycle_events():
    definition = Definition(name="billing-nightly", type="billing-nightly", cadences=("daily 03:15",))
    old = Job(
        ref=JobRef("system", "billing-nightly"),
        definition=definition,
        origin=Origin.CODE,
        since=NOON,
        anchor=NOON,
        cursor=NOON,
        attend_at=NOON,
    )
    new = replace(old, tally=Tally(consecutive_failures=definition.failure_threshold, last_id="x"))
    row = Action(
        tenant_id="acme", id="x", type="ping", due_at=NOON, due_shard="0", created_by="ada", payload="{}"
    )
    thing = Undelivered(
        id=undelivered_id(NOON, "x"), kind=Kind.MESSAGE, source="due", reason="x", body="", first_at=NOON, last_at=NOON
    )  # fmt: skip
    [of_the_job], [of_the_thing] = of_job(JobChange(old, new), NOON), of_undelivered(thing)
    facts = {
        NotificationKind.ACTION_FAILED: told_of_row(row),
        NotificationKind.DEAD_LETTERED: told_of_row(row),
        NotificationKind.UNDELIVERED: of_the_thing.about,
        NotificationKind.RECURRING_FAILING: of_the_job.about,
        NotificationKind.RECURRING_SUCCEEDING: of_the_job.about,
    }
    for kind, about in facts.items():
        assert sample(kind, is_digest=False).facts.keys() == about.keys()
        made = shape(kind, is_digest=False)
        assert {made.facts.get(row, row) for row in made.rows} - {"tenant", "when"} <= about.keys()


def test_the_variables_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "docs/mails.md").read_text()
    told = {
        kind: set(re.findall(r"`(\w+)`", variables))
        for kind, variables in re.findall(r"^\| `([a-z._]+)` \| (.*) \|$", page, re.MULTILINE)
    }
    singles = {str(kind): set(shape(kind, is_digest=False).variables) for kind in NotificationKind}
    assert told == {**singles, "digest": set(shape(NotificationKind.UNDELIVERED, is_digest=True).variables)}


def test_mails_need_neither_pydantic_nor_boto3_nor_cdk():
    code = "import sys, duetime.mail as m; m.templates(''); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not {"pydantic", "boto3", "aws_cdk"} & set(done.stdout.split())


def test_each_mail_can_be_looked_at(tmp_path):
    from duetime.mail.__main__ import main  # noqa: PLC0415 - no part of the package's surface

    main(tmp_path)
    for each in templates(""):
        assert (tmp_path / f"{each.name}.html").read_text().startswith("<!doctype html>")
        assert (tmp_path / f"{each.name}.txt").read_text()


def test_every_public_name_is_there():
    assert all(hasattr(mails, each) for each in mails.__all__)
