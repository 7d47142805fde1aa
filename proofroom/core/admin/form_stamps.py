"""A form says what it was filled with, so that nobody writes old values back over what a colleague saved since."""

from __future__ import annotations

import json
from typing import Final

from django.forms import Form
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

STAMP_FIELD: Final = "stamp"
_SALT: Final = "core.form_stamps"


def stamp_of(form: Form) -> str:
    """Return what stands for the values that the form starts with; another one for others."""
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    text = json.dumps(values, sort_keys=True, default=_as_json)
    return salted_hmac(_SALT, text).hexdigest()[:32]


def refuse_stale(form: Form) -> None:
    """Add an error to a checked form that was filled with other values than those that stand now.

    The page that shows the error has the stamp of today, so saving it again is meant.
    """
    sent = form.data.get(STAMP_FIELD)
    if not sent or sent == stamp_of(form):
        return
    labels = [str(form[name].label) for name in form.changed_data]
    message = _("Somebody saved other values since you opened this page. Nothing was saved.")
    if labels:
        message += " " + _(
            "Your entries differ from what is saved now in: %(fields)s. Check them, then save again."
        ) % {"fields": ", ".join(labels)}
    form.add_error(None, message)


def _as_json(value: object) -> object:
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)
