"""Undo: the button in a message that reverts the last action.

An app registers how to revert a kind of action and adds `undo_button` to its message. The button's value is signed
for the user who saw it. The service that reverts the action checks permission and version again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of
from proofroom.core.errors import CmsError
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject

MAX_AGE_SECONDS: Final = 3600
_SALT: Final = "admin.undo"


@dataclass(frozen=True, slots=True)
class Undone:
    """The result of an undo as a sentence, and the page that shows it."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class UndoKind:
    """The function that reverts a kind of action. `run` raises `CmsError` if that is no longer possible."""

    name: str
    run: Callable[[Actor, JsonObject], Undone]


undo_kinds: ExtensionPoint[UndoKind] = ExtensionPoint()
"""Registered by name in `AppConfig.ready`."""


def undo_button(request: HttpRequest, kind: str, arguments: JsonObject, *, back: str) -> SafeString:
    """Return the button for a message. `back` is the page to return to if undoing fails."""
    # The base template of the admin contains the form with this id on every page.
    return format_html(
        '<button type="submit" form="message-form" formaction="{}" name="undo" value="{}">{}</button>',
        reverse("admin:undo"),
        undo_value(request, kind, arguments, back=back),
        _("Undo"),
    )


def undo_value(request: HttpRequest, kind: str, arguments: JsonObject, *, back: str) -> str:
    """Return the signed value of the button, for a page with its own button."""
    sent = {"user": str(request.user.pk), "kind": kind, "arguments": arguments, "back": back}
    return signing.dumps(sent, salt=_SALT, compress=True)


@require_POST
def undo(request: HttpRequest) -> HttpResponse:
    """Revert the action of the button and show the result."""
    try:
        sent = signing.loads(request.POST.get("undo", ""), salt=_SALT, max_age=MAX_AGE_SECONDS)
    except signing.BadSignature:
        sent = {}
    kind = undo_kinds.get(sent.get("kind", ""))
    # A signed value of another user must not act with this user's session.
    if kind is None or sent["user"] != str(request.user.pk):
        messages.error(request, _("This can no longer be undone."))
        return HttpResponseRedirect(reverse("admin:index"))
    try:
        done = kind.run(actor_of(request), sent["arguments"])
    except CmsError as error:
        text = _("This could not be undone. %(reason)s")
        messages.error(request, text % {"reason": error.message})
        return HttpResponseRedirect(sent["back"])
    messages.success(request, done.text)
    return HttpResponseRedirect(done.url)
