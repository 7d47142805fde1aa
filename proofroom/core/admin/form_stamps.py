"""Stamps of forms: a saved form must not overwrite values that a colleague saved in the meantime."""

from __future__ import annotations

import json
from typing import Final

from django.forms import Form
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

STAMP_FIELD: Final = "stamp"
_SALT: Final = "core.form_stamps"


def stamp_of(form: Form) -> str:
    """Return the stamp of the form's initial values. Other values give another stamp."""
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    text = json.dumps(values, sort_keys=True, default=_as_json)
    return salted_hmac(_SALT, text).hexdigest()[:32]


def reject_stale_form(form: Form) -> None:
    """Add an error to a valid form whose initial values are outdated.

    The page with the error has the current stamp, so a second save overwrites on purpose.
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
