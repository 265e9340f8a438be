import json
import platform
import re
import sys
from email import message_from_string

import aws_cdk as cdk
import boto3
import pytest
from moto import mock_aws

from duetime.cdk.bundle import Bundle
from duetime.cdk.install import InstallTarget
from duetime.cdk.notifications import MailTemplates
from duetime.model.notification import NotificationKind
from duetime.notifications.mail import languages, mail_of, rendered, templates
from duetime.notifications.mail.samples import samples
from duetime.settings import Settings
from tests.infra.synthesis import Synthesised

SENDS = Settings(mail_from="duetime@example.com", console_url="https://console.example.com")


def resources(settings):
    """The resources of a stack with nothing but the mails' templates."""
    made = cdk.Stack(cdk.App(), "mails")
    MailTemplates(made, "Mails", settings=settings)
    return Synthesised.from_stack(made).resources


@pytest.fixture(scope="module")
def made():
    return resources(SENDS)


def parts(made):
    return {
        template["Properties"]["Template"]["TemplateName"]: template["Properties"]["Template"]
        for template in made.values()
    }


def test_a_deployment_without_a_sender_has_no_templates():
    none = MailTemplates(cdk.Stack(cdk.App(), "mails"), "Mails", settings=Settings())
    assert none.node.find_all() == [none]


def test_each_template_is_there_in_each_language_just_as_the_mails_have_it(made):
    assert {template["Type"] for template in made.values()} == {"AWS::SES::Template"}
    assert parts(made) == {
        template.name: {
            "TemplateName": template.name,
            "SubjectPart": template.subject,
            "TextPart": template.text,
            "HtmlPart": template.html,
        }
        for template in templates(SENDS.prefix)
    }
    assert {name.rpartition("-")[2] for name in parts(made)} == set(languages())


def test_a_notification_of_each_kind_finds_its_template_and_all_its_variables(made):
    for notification in samples():
        for language in languages():
            mail = mail_of(notification, address="ada@acme.example", language=language, settings=SENDS)
            template = parts(made)[mail.template]
            used = re.findall(r"\{\{(.*?)\}\}", "".join(template.values()))
            assert set(used) <= mail.data.keys()


def test_the_templates_are_made_one_after_another(made):
    waits = {name: set(template.get("DependsOn", ())) for name, template in made.items()}
    done: set[str] = set()
    while ready := [name for name, before in waits.items() if name not in done and before <= done]:
        assert len(ready) == 1
        done |= set(ready)
    assert done == made.keys()


@pytest.mark.parametrize("prefix", ["", "duetime-", "p" * 40])
def test_names_and_sizes_are_within_the_limits_of_ses(prefix):
    made = parts(resources(Settings(prefix=prefix, mail_from="duetime@example.com")))
    assert len(made) == 2 * len(NotificationKind) * len(languages())  # one alone, and a digest
    for name, template in made.items():
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        assert len(json.dumps(template)) < 500_000


def test_the_mail_service_renders_the_same_text(made):
    with mock_aws():
        service = boto3.client("ses", region_name="eu-west-1")
        for template in parts(made).values():
            service.create_template(Template=template)
        known = {template.name: template for template in templates(SENDS.prefix)}
        for notification in samples()[:2]:  # a single one and a digest: moto takes its time
            mail = mail_of(notification, address="ada@acme.example", language="fr", settings=SENDS)
            answer = service.test_render_template(
                TemplateName=mail.template, TemplateData=json.dumps(dict(mail.data))
            )["RenderedTemplate"]
            ours = rendered(known[mail.template], mail.data)
            assert f"Subject: {ours.subject}\n" in answer.replace("\r\n", "\n")
            parts_of_it = [part for part in message_from_string(answer).walk() if not part.is_multipart()]
            assert [part.get_payload(decode=True).decode() for part in parts_of_it] == [ours.text, ours.html]


def test_the_words_are_in_the_bundle(tmp_path):
    Bundle(InstallTarget(platform.machine(), f"{sys.version_info.major}.{sys.version_info.minor}")).make(
        tmp_path
    )
    bundled = {file.stem for file in (tmp_path / "duetime/notifications/mail/languages").glob("*.toml")}
    assert bundled == set(languages())
