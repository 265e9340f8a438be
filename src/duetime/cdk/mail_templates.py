"""The mails' templates in SES: each kind of notification, single and digest, in every supported language."""

from __future__ import annotations

from aws_cdk import aws_ses as ses
from constructs import Construct

from duetime.notifications.mail import templates
from duetime.settings import Settings


class MailTemplates(Construct):
    """All templates; none if `mail_from` is empty.

    SES creates one template a second, and CloudFormation would request all at once. So each depends on the
    previous one.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.templates: list[ses.CfnTemplate] = []
        for template in templates(settings.prefix) if settings.mail_from else ():
            made = ses.CfnTemplate(
                self,
                template.name.removeprefix(settings.prefix),
                template=ses.CfnTemplate.TemplateProperty(
                    template_name=template.name,
                    subject_part=template.subject,
                    text_part=template.text,
                    html_part=template.html,
                ),
            )
            if self.templates:
                made.add_dependency(self.templates[-1])
            self.templates.append(made)
