"""Forms of django-allauth with the labels of this admin."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ResetPasswordKeyForm
from django.utils.translation import gettext as _


class NewPasswordForm(ResetPasswordKeyForm):  # type: ignore[misc]  # untyped
    """The form for a new password, opened by the link of a mail."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = {
            "password1": (
                _("New password"),
                _("At least 8 characters. Common passwords are rejected."),
            ),
            "password2": (_("Confirm new password"), ""),
        }
        for name, (label, help_text) in words.items():
            field = self.fields[name]
            field.label, field.help_text = label, help_text
            field.widget.attrs.pop("placeholder", None)
