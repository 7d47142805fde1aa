"""Notifications of form submissions: in the admin, by email, and the text of the email."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.test import Client

from forms.models import FormDefinition
from forms.services.submissions import delete_submission, submit_form
from proofroom.accounts.models import Preferences, User
from proofroom.core.actor import Actor, Visitor
from proofroom.core.errors import RuleViolation
from proofroom.core.independent_steps import StepsFailed
from proofroom.core.models import Event
from proofroom.notifications import mail
from proofroom.notifications.mail import mail_notifications
from proofroom.notifications.models import Notification, NotificationChoice
from proofroom.notifications.queries import channels_of, describe, visible_notifications
from proofroom.notifications.services import add_notifications, choose_channels, mark_all_read
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
CHOICES = "/admin/notifications/choices/"
KIND = "form.submitted"


@pytest.fixture(autouse=True)
def mail_server(settings: Any) -> None:
    settings.HAS_EMAIL = True


def send(slug: str = "contact", message: str = "Private words") -> str:
    receipt = submit_form(
        slug=slug,
        locale="en",
        values={"email": "ann@example.org", "message": message},
        actor=Actor(user=Visitor(), via="site"),
        admit=lambda: None,
    )
    add_notifications(list(Event.objects.order_by("pk")))
    return str(receipt.id)


def lines(actor: Actor) -> list[str]:
    return [line.text.text for line in describe(list(visible_notifications(actor)), actor)]


def test_submission_readers_get_one_notification_per_form() -> None:
    admin, editor, translator = map(make.actor, ("admin", "editor", "translator"))
    make.form("contact")
    make.form("signup")

    send()
    send()
    send("signup")

    titles = dict(FormDefinition.objects.values_list("slug", "title"))
    for actor in (admin, editor):
        assert lines(actor) == [
            f"1 new submission of “{titles['signup']}”",
            f"2 new submissions of “{titles['contact']}”",
        ]
    assert lines(translator) == []
    (line,) = describe(list(visible_notifications(admin).filter(group="contact")), admin)
    assert line.text.url == "/admin/forms/formsubmission/?form_slug=contact"


def test_a_deleted_submission_is_not_notified() -> None:
    admin = make.actor("admin")
    make.form()
    receipt = submit_form(
        slug="contact",
        locale="en",
        values={"email": "ann@example.org", "message": "Hello"},
        actor=Actor(user=Visitor(), via="site"),
        admit=lambda: None,
    )
    delete_submission(slug="contact", submission_id=receipt.id, actor=admin)
    add_notifications(list(Event.objects.order_by("pk")))
    assert lines(admin) == []


def test_a_disabled_kind_sends_no_notification_to_that_user_only() -> None:
    admin, editor = make.actor("admin"), make.actor("editor")
    make.form()
    choose_channels(actor=admin, channels={KIND: "off"})

    send()

    assert lines(admin) == []
    assert len(lines(editor)) == 1


def test_a_mail_names_the_form_and_nothing_that_was_sent(mailoutbox: list[EmailMessage]) -> None:
    admin = make.actor("admin")
    make.form("contact")
    send()  # before it was chosen: it stands in the list
    choose_channels(actor=admin, channels={KIND: "mail"})
    assert mail_notifications() == 0
    send()
    send()

    assert mail_notifications() == 1
    assert mail_notifications() == 0  # nothing new

    (mail,) = mailoutbox
    title = FormDefinition.objects.get(slug="contact").title
    assert mail.to == [User.objects.get(pk=admin.user.pk).email]
    assert mail.subject == f"3 new submissions of “{title}”"
    assert "/admin/forms/formsubmission/?form_slug=contact" in mail.body
    assert CHOICES in mail.body
    for secret in ("Private words", "ann@example.org"):
        assert secret not in mail.body + mail.subject
    send()
    assert mail_notifications() == 1


def test_a_person_who_cannot_be_mailed_keeps_no_other_from_a_mail(
    mailoutbox: list[EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, editor = make.actor("admin"), make.actor("editor")
    make.form()
    for actor in (admin, editor):
        choose_channels(actor=actor, channels={KIND: "mail"})
    send()
    first, second = sorted((admin.user.pk, editor.user.pk))
    preferences_of = vars(mail)["preferences_of"]

    def failing(user: User) -> Preferences:
        if user.pk == first:
            raise ZeroDivisionError
        found: Preferences = preferences_of(user)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(mail, "preferences_of", failing)
        with pytest.raises(StepsFailed, match=str(first)):
            mail_notifications()

    assert [one.to for one in mailoutbox] == [[User.objects.get(pk=second).email]]
    assert mail_notifications() == 1
    assert mailoutbox[1].to == [User.objects.get(pk=first).email]


@pytest.mark.parametrize("case", ["read", "off", "may not", "inactive", "no server"])
def test_nobody_is_mailed_who_must_not_be(
    case: str, mailoutbox: list[EmailMessage], settings: Any
) -> None:
    admin = make.actor("admin")
    make.form()
    choose_channels(actor=admin, channels={KIND: "mail"})
    send()
    user = User.objects.filter(pk=admin.user.pk)
    if case == "read":
        mark_all_read(actor=admin)
    elif case == "off":
        choose_channels(actor=admin, channels={KIND: "off"})
    elif case == "may not":
        user.update(role="translator")
    elif case == "inactive":
        user.update(is_active=False)
    else:
        settings.HAS_EMAIL = False

    assert mail_notifications() == 0
    assert mailoutbox == []


def test_a_mail_that_fails_is_tried_again(
    mailoutbox: list[EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = make.actor("admin")
    make.form()
    choose_channels(actor=admin, channels={KIND: "mail"})
    send()

    def refuse(*_arguments: object) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr(EmailMessage, "send", refuse)
        assert mail_notifications() == 0
    assert Notification.objects.get(user=admin.user.pk).mailed_event_id == 0

    assert mail_notifications() == 1
    assert len(mailoutbox) == 1


@pytest.mark.parametrize(
    "channels",
    [{"nonsense": "off"}, {KIND: "pigeon"}, {KIND: "\ud800"}],
)
def test_a_choice_that_is_none_is_refused(channels: dict[str, str]) -> None:
    with pytest.raises(RuleViolation) as refusal:
        choose_channels(actor=make.actor("admin"), channels=channels)
    assert list(refusal.value.details) == list(channels)
    assert not NotificationChoice.objects.exists()


def test_a_forbidden_kind_is_neither_offered_nor_accepted(
    signed_in: SignedIn,
) -> None:
    client = signed_in("translator")
    page = client.get(CHOICES).content.decode()
    assert 'name="review.decided"' in page
    assert f'name="{KIND}"' not in page
    with pytest.raises(RuleViolation):
        choose_channels(actor=make.actor("translator"), channels={KIND: "off"})


def test_kinds_are_chosen_on_a_page(signed_in: SignedIn, settings: Any) -> None:
    client = signed_in("editor")
    page = client.get(CHOICES).content.decode()
    fields = re.findall(r'<select name="((?!group-)[a-z.-]+)"', page)
    present = channels_of(make.user("editor"))
    sent = {name: present[name] for name in fields} | {KIND: "mail"}

    saved = client.post(CHOICES, sent, follow=True).content.decode()

    assert "Notification settings saved." in saved
    assert list(NotificationChoice.objects.values_list("kind", "channel")) == [(KIND, "mail")]
    assert "EMAIL_URL" not in saved
    settings.HAS_EMAIL = False
    without = client.get(CHOICES)
    assert without.content.decode().count("EMAIL_URL is not set") == 1
    offered = {
        name: [value for value, _label in field.choices]
        for name, field in without.context["form"].fields.items()
    }
    assert offered["review.decided"] == ["off", "admin"]
    assert offered[KIND] == ["off", "admin", "mail"]
    sent = {name: field.initial for name, field in without.context["form"].fields.items()}
    assert client.post(CHOICES, sent).status_code == 302  # it stays as it was chosen
    assert NotificationChoice.objects.get().channel == "mail"
    assert client.post(CHOICES, sent | {"review.decided": "mail"}).status_code == 422


def test_one_choice_sets_all_kinds_of_a_group(signed_in: SignedIn) -> None:
    client = signed_in("editor")
    form = client.get(CHOICES).context["form"]
    sent = {name: field.initial for name, field in form.fields.items()}
    assert [section.group.name for section in form.sections] == [
        "you",
        "decisions",
        "dates",
        "others",
    ]
    dates = [field.name for field in form.sections[2].visible_fields]
    assert len(dates) > 2

    client.post(CHOICES, {**sent, "group-dates": "off", dates[0]: "mail"})

    chosen = dict(NotificationChoice.objects.values_list("kind", "channel"))
    assert chosen == {**dict.fromkeys(dates, "off"), dates[0]: "mail"}
    form = client.get(CHOICES).context["form"]
    assert form.fields["group-dates"].initial == ""
    assert ("", "Different for each") in form.fields["group-dates"].choices
