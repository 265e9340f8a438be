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
    mail_of,
    rendered,
    templates,
    words,
    words_of,
)
from duetime.notifications.mail.message import steps_of
from duetime.notifications.mail.samples import sample, samples
from duetime.notifications.mail.shape import shape
from duetime.settings import Settings
from tests.facts.mails import FAILED, NOON, PLAIN, WITH_CONSOLE, Page, each_mail, received_mail, with_facts


class TestMail:
    @each_mail
    def test_text_and_html_have_same_content(self, notification, language):
        made = received_mail(notification, language, WITH_CONSOLE)
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
    def test_link_needs_console_url(self, notification, language):
        with_link, without = (
            received_mail(notification, language, WITH_CONSOLE),
            received_mail(notification, language),
        )
        [link] = Page(with_link.html).attributes["a"]
        assert link["href"].startswith("https://console.example.com/#/")
        assert link["href"] in with_link.text
        assert "a" not in Page(without.html).elements
        assert "https:" not in without.text

    def test_link_opens_page_of_action(self):
        assert (
            f"https://console.example.com/#/actions/{FAILED.facts['id']}"
            in received_mail(FAILED, "en", WITH_CONSOLE).text
        )

    def test_link_contains_path_of_console(self):
        below = Settings(console_url="https://a1b2.execute-api.eu-west-1.amazonaws.com/prod")
        assert f"{below.console_url}/#/actions/" in received_mail(FAILED, "en", below).text

    @pytest.mark.parametrize("notification", samples(), ids=lambda notification: notification.id)
    def test_commands_are_accepted_by_command_line(self, notification):
        for command in steps_of(notification).values():
            program, *arguments = shlex.split(command)
            assert program == "duetime"
            assert callable(parser().parse_args(arguments).run)

    @pytest.mark.parametrize("language", languages())
    def test_mail_shows_command_that_stops_it(self, language):
        command, option = re.findall("`([^`]+)`", words.words_in(language)["layout.stop"])
        program, *arguments = command.split()
        assert program == "duetime"
        assert parser().parse_args([*arguments, option]).scope == "system"
        assert command in received_mail(FAILED, language).text

    def test_mail_shows_times_in_utc(self):
        assert "When: 2027-06-01 07:00:04 UTC" in received_mail(FAILED).text

    def test_mail_uses_template_of_kind_and_language(self):
        mail = mail_of(FAILED, address="ada@acme.example", language="fr", settings=PLAIN)
        assert (mail.address, mail.template) == (
            "ada@acme.example",
            "duetime-scheduling-action-failed-fr",
        )
        digest = sample(NotificationKind.RECURRING_FAILING, is_digest=True)
        mail = mail_of(digest, address="ada@acme.example", language="en", settings=Settings(prefix="a-"))
        assert mail.template == "a-jobs-recurring-failing-digest-en"

    def test_mail_without_template_variable_is_rejected(self):
        [template, *_] = templates("")
        data = dict.fromkeys(template.variables - {"reason_html", "tenant"}, "")
        with pytest.raises(TemplateVariableMissing, match=r"lacks: reason_html, tenant$") as rejected:
            rendered(template, data)
        assert rejected.value.variables == ("reason_html", "tenant")

    def test_template_with_unknown_variable_is_rejected(self):
        [template, *_] = templates("")
        available = shape(NotificationKind.ACTION_FAILED, is_digest=False).data_names
        with pytest.raises(
            TemplateVariableMissing, match=r"action-failed-en needs what the mail lacks: surprise$"
        ):
            replace(template, text="{{surprise}}").require(available)

    @each_mail
    def test_mail_data_matches_template(self, notification, language):
        mail = mail_of(notification, address="ada@acme.example", language=language, settings=WITH_CONSOLE)
        assert mail.data.keys() == shape(notification.kind, is_digest=notification.is_digest).data_names

    @each_mail
    def test_unknown_facts_have_fallback_text(self, notification, language):
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
            assert "None" not in received_mail(incomplete, language, WITH_CONSOLE).text

    def test_mail_without_reason_has_fallback_text(self):
        assert "Reason: no message" in received_mail(with_facts(reason=None)).text
        assert "Motif\u00a0: aucun message" in received_mail(with_facts(reason=" \n"), "fr").text

    def test_digest_lists_most_frequent_names_and_counts_others(self):
        digest = Digest(
            tenant_id="acme",
            kind=NotificationKind.ACTION_FAILED,
            since=NOON,
            until=NOON,
            total=1_000,
            by_name={f"type-{number:02}": number for number in range(1, 26)},
        )
        text = received_mail(digest.notification()).text
        assert "Of each:\n25 × type-25\n24 × type-24\n" in text
        assert "\n6 × type-06\nand 15 more\n" in text

    def test_plain_message_omits_link_and_footer(self):
        subject, text = words_of(FAILED, language="en")
        assert subject == received_mail(FAILED).subject == "acme: send-reminder failed"
        assert received_mail(FAILED).text.startswith(text)
        assert "preferences" not in text


def test_mail_facts_are_fields_of_lifecycle_events():
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


def test_variables_match_documentation():
    page = (Path(__file__).parents[2] / "docs/mails.md").read_text()
    listed = {
        kind: set(variables.split())
        for kind, variables in re.findall(r"^([a-z]+\.[a-z_]+|digest)  +(tenant .*)$", page, re.MULTILINE)
    }
    singles = {str(kind): set(shape(kind, is_digest=False).variables) for kind in NotificationKind}
    assert listed == {**singles, "digest": set(shape(NotificationKind.UNDELIVERED, is_digest=True).variables)}


def test_templates_need_neither_pydantic_nor_boto3_nor_cdk():
    code = "import sys, duetime.notifications.mail as m; m.templates(''); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not {"pydantic", "boto3", "aws_cdk"} & set(done.stdout.split())


def test_sending_function_does_not_load_jinja():
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


def test_every_mail_has_a_preview(tmp_path):
    from duetime.notifications.mail.__main__ import main  # noqa: PLC0415 - no part of the package's surface

    main(tmp_path)
    for template in templates(""):
        assert (tmp_path / f"{template.name}.html").read_text().startswith("<!doctype html>")
        assert (tmp_path / f"{template.name}.txt").read_text()


def test_public_names_are_complete():
    assert all(hasattr(mails, name) for name in mails.__all__)
