"""Words that record their requests."""

from duetime.ports.notifications import Mail


class PlainWords:
    """Stands in for the words of mails and messages."""

    def mail_of(self, notification, *, address, language, settings):
        template = f"{settings.prefix}{notification.kind.replace('.', '-').replace('_', '-')}"
        data = {"about": notification.about, "total": str(notification.facts.get("total", ""))}
        return Mail(address=address, template=f"{template}-{language}", data=data)

    def words_of(self, notification, *, language):
        total = f" {notification.facts['total']}" if notification.is_digest else ""
        return f"{language}: échec\n{notification.about}{total}", f"{notification.kind} in full"
