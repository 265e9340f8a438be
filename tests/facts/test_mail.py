"""The content of mails, and their links."""

import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from duetime.cli.main import parser
from duetime.model.action import Action
from duetime.model.action_events import public_fields
from duetime.model.job import Definition, Job, JobRef, Origin
from duetime.model.job_events import JobChange, of_job
from duetime.model.lifecycle import of_undelivered
from duetime.model.notification import Digest, NotificationKind
from duetime.model.run_stats import RunStats
from duetime.model.undelivered import Undelivered, UndeliveredKind, undelivered_id
from duetime.notifications import mail as mails
from duetime.notifications.mail import (
    TemplateVariableMissing,
    languages,
    layout,
    mail_of,
    rendered,
    templates,
    words,
    words_of,
)
from duetime.notifications.mail.samples import sample, samples
from duetime.notifications.mail.shape import shape
from duetime.notifications.mail.values import steps_of
from duetime.settings import Settings
from tests.facts.mails import FAILED, NOON, PLAIN, WITH_CONSOLE, Page, arrived, each_mail, with_facts


class TestAMail:
    @each_mail
    def test_has_the_same_content_as_text_and_as_html(self, notification, language):
        made = arrived(notification, language, WITH_CONSOLE)
        data = mail_of(
            notification, address="ada@acme.example", language=language, settings=WITH_CONSOLE
        ).data
        known, seen = words.words_in(language), Page(made.html)
        mail = shape(notification.kind, is_digest=notification.is_digest)
        assert made.subject
        for row in mail.rows:
            label = known[f"labels.{row}"]
            assert label in made.text
            assert label in seen.words
            assert data[row]
            assert data[row] in made.text
            assert data[row].replace("\n", "") in seen.words
        for step in mail.steps:
            assert f"  {data[step]}\n" in made.text
            assert data[step] in seen.words
        for expected in (
            "ada@acme.example",
            str(notification.kind),
            known[f"severity.{notification.kind.severity}"],
        ):
            assert expected in made.text
            assert expected in seen.words
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

    @pytest.mark.parametrize("notification", samples(), ids=lambda notification: notification.id)
    def test_has_commands_that_the_command_line_accepts(self, notification):
        for command in steps_of(notification).values():
            program, *arguments = shlex.split(command)
            assert program == "duetime"
            assert callable(parser().parse_args(arguments).run)

    @pytest.mark.parametrize("language", languages())
    def test_shows_the_command_that_stops_such_mails(self, language):
        command, option = re.findall("`([^`]+)`", words.words_in(language)["layout.stop"])
        program, *arguments = command.split()
        assert program == "duetime"
        assert parser().parse_args([*arguments, option]).system
        assert command in arrived(FAILED, language).text

    def test_shows_times_in_utc(self):
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

    def test_without_a_variable_of_its_template_is_rejected(self):
        [template, *_] = templates("")
        data = dict.fromkeys(template.variables - {"reason_html", "tenant"}, "")
        with pytest.raises(TemplateVariableMissing, match=r"lacks: reason_html, tenant$") as refused:
            rendered(template, data)
        assert refused.value.variables == ("reason_html", "tenant")

    def test_a_layout_with_a_variable_that_no_mail_carries_makes_no_templates(self, monkeypatch):
        monkeypatch.setattr(layout, "text", lambda *_, **__: "{{surprise}}")
        with pytest.raises(
            TemplateVariableMissing, match=r"action-failed-en needs what the mail lacks: surprise$"
        ):
            templates("")

    @each_mail
    def test_carries_the_data_that_its_template_was_checked_against(self, notification, language):
        mail = mail_of(notification, address="ada@acme.example", language=language, settings=WITH_CONSOLE)
        assert mail.data.keys() == shape(notification.kind, is_digest=notification.is_digest).data_names

    @each_mail
    def test_has_words_for_unknown_facts(self, notification, language):
        known = words.words_in(language)
        bare = replace(notification, facts=dict.fromkeys(notification.facts))
        for incomplete in (bare, replace(notification, facts={})):
            data = mail_of(
                incomplete, address="ada@acme.example", language=language, settings=WITH_CONSOLE
            ).data
            mail = shape(notification.kind, is_digest=notification.is_digest)
            for row in set(mail.rows) - {"tenant", "when"}:
                assert data[row] in {
                    text for name, text in known.texts.items() if name.startswith("missing.")
                }
            assert "None" not in arrived(incomplete, language, WITH_CONSOLE).text

    def test_without_a_reason_says_no_message(self):
        assert "Reason: no message" in arrived(with_facts(reason=None)).text
        assert "Motif\u00a0: aucun message" in arrived(with_facts(reason=" \n"), "fr").text

    def test_of_many_lists_the_most_frequent_first_and_counts_the_rest(self):
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


def test_the_facts_of_mails_are_those_of_lifecycle_events():
    definition = Definition(name="billing-nightly", type="billing-nightly", cadences=("daily 03:15",))
    old = Job(
        ref=JobRef("system", "billing-nightly"),
        definition=definition,
        origin=Origin.CODE,
        since=NOON,
        anchor=NOON,
        cursor=NOON,
        maintain_at=NOON,
    )
    new = replace(old, tally=RunStats(consecutive_failures=definition.failure_threshold, last_id="x"))
    row = Action(
        tenant_id="acme", id="x", type="ping", due_at=NOON, due_shard="0", created_by="ada", payload="{}"
    )
    thing = Undelivered(
        id=undelivered_id(NOON, "x"),
        kind=UndeliveredKind.MESSAGE,
        source="due",
        reason="x",
        body="",
        first_at=NOON,
        last_at=NOON,
    )
    [of_the_job], [of_the_thing] = of_job(JobChange(old, new), NOON), of_undelivered(thing)
    facts = {
        NotificationKind.ACTION_FAILED: public_fields(row),
        NotificationKind.DEAD_LETTERED: public_fields(row),
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
    listed = {
        kind: set(re.findall(r"`(\w+)`", variables))
        for kind, variables in re.findall(r"^\| `([a-z._]+)` \| (.*) \|$", page, re.MULTILINE)
    }
    singles = {str(kind): set(shape(kind, is_digest=False).variables) for kind in NotificationKind}
    assert listed == {**singles, "digest": set(shape(NotificationKind.UNDELIVERED, is_digest=True).variables)}


def test_templates_need_neither_pydantic_nor_boto3_nor_cdk():
    code = "import sys, duetime.notifications.mail as m; m.templates(''); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not {"pydantic", "boto3", "aws_cdk"} & set(done.stdout.split())


def test_a_function_that_sends_mails_does_not_load_jinja():
    code = (
        "import sys\n"
        "from duetime.notifications.mail import mail_of, words_of\n"
        "from duetime.notifications.mail.samples import samples\n"
        "from duetime.settings import Settings\n"
        "for notification in samples():\n"
        "    mail_of(notification, address='a@b.example', language='fr', settings=Settings())\n"
        "    words_of(notification, language='fr')\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not {"jinja2", "markupsafe"} & set(done.stdout.split())


def test_each_mail_can_be_looked_at(tmp_path):
    from duetime.notifications.mail.__main__ import main  # noqa: PLC0415 - no part of the package's surface

    main(tmp_path)
    for template in templates(""):
        assert (tmp_path / f"{template.name}.html").read_text().startswith("<!doctype html>")
        assert (tmp_path / f"{template.name}.txt").read_text()


def test_every_public_name_is_there():
    assert all(hasattr(mails, name) for name in mails.__all__)
