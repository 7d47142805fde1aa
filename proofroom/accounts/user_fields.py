"""Fields of accounts: form inputs and API answers. Declare a new field here and in the model."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import AfterValidator, Field

from proofroom.accounts.models import EMAIL_MAX, USERNAME_MAX, SiteRole
from proofroom.accounts.queries import people_role_choices
from proofroom.accounts.roles import ROLE_NAME_MAX, Role, grants
from proofroom.core.api.answer import Answer, TextOrNull
from proofroom.core.api.body import Body, Words
from proofroom.core.json import JsonObject
from proofroom.core.validation.form_fields import FormField

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

PASSWORD_MAX: Final = 1000
ROLE_SCHEMA: Final[JsonObject] = {"pattern": f"^[a-z][a-z0-9_]{{0,{ROLE_NAME_MAX - 1}}}$"}
"""JSON schema of a role name. `GET /api/roles` lists the existing roles."""


def _existing_role(name: str) -> str:
    if name not in grants() and (len(name) > ROLE_NAME_MAX or SiteRole.find(name) is None):
        raise ValueError("must be the name of a role that exists")
    return name


def _existing_person_role(name: str) -> str:
    if name == Role.AI_AGENT:
        raise ValueError("must be a role for people")
    return _existing_role(name)


AnsweredRole = Annotated[str, Field(json_schema_extra=ROLE_SCHEMA)]
RoleName = Annotated[Words, AfterValidator(_existing_role), Field(json_schema_extra=ROLE_SCHEMA)]
PersonRole = Annotated[
    Words, AfterValidator(_existing_person_role), Field(json_schema_extra=ROLE_SCHEMA)
]


class AccountAnswer(Answer):
    """An account."""

    id: int = Field(ge=1)
    email: str = Field(max_length=EMAIL_MAX, json_schema_extra={"format": "email"})
    username: str = Field(max_length=USERNAME_MAX)
    role: AnsweredRole
    active: bool = Field(validation_alias="is_active")
    agent_id: TextOrNull
    created_at: datetime
    last_login_at: datetime | None = Field(validation_alias="last_login")


def role_field(help_text: str | StrPromise = "") -> forms.Field:
    """Return a form field for the role of a person."""
    return forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=people_role_choices,
        initial=Role.EDITOR.value,
        help_text=help_text,
    )


def password_field(help_text: str | StrPromise) -> forms.Field:
    """Return a form field for a new password."""
    return forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=help_text,
    )


class NewUser(Body):
    email: Annotated[
        Words,
        FormField(lambda: forms.EmailField(label=gettext_lazy("Email"), max_length=EMAIL_MAX)),
    ] = Field(max_length=EMAIL_MAX)
    username: Annotated[
        Words,
        FormField(lambda: forms.CharField(label=gettext_lazy("Name"), max_length=USERNAME_MAX)),
    ] = Field(min_length=1, max_length=USERNAME_MAX)
    role: Annotated[PersonRole, FormField(role_field)]
    password: Annotated[
        Words,
        FormField(
            lambda: password_field(
                gettext_lazy("At least 8 characters. Common passwords are rejected.")
            )
        ),
    ] = Field(max_length=PASSWORD_MAX)


class UserChange(NewUser, answered_by=AccountAnswer, partial=True):
    role: Annotated[  # an agent's role is accepted, so that clients can send back what they read
        RoleName,
        FormField(
            lambda: role_field(gettext_lazy("Changing the role logs the account out everywhere."))
        ),
    ]
    active: Annotated[
        bool | None,
        FormField(
            lambda: forms.BooleanField(
                label=gettext_lazy("Active"),
                required=False,
                help_text=gettext_lazy(
                    "Turning off an account logs it out everywhere. It can then no longer be used."
                ),
            ),
            name="is_active",
        ),
    ] = None
    password: Annotated[
        Words,
        FormField(
            lambda: password_field(
                gettext_lazy(
                    "At least 8 characters. Common passwords are rejected. The "
                    "account is logged out everywhere."
                )
            )
        ),
    ] = Field(max_length=PASSWORD_MAX)
