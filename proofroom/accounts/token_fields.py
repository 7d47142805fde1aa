"""Fields of tokens: form inputs and API answers. Declare a new field here and in the model."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from uuid import UUID

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy
from pydantic import AliasPath, Field

from proofroom.accounts.models import DELIVERY_RATE_MAX, TOKEN_NAME_MAX, DeliveryToken, User
from proofroom.accounts.permission_labels import marked_permission_choices
from proofroom.accounts.queries import active_people
from proofroom.accounts.roles import all_permissions
from proofroom.accounts.scope_shapes import ScopeAnswer, ScopeFields
from proofroom.core.api.answer import Answer, one_of
from proofroom.core.api.body import Body, Moment, Whole, Words
from proofroom.core.content_scope import ContentScope
from proofroom.core.validation.form_fields import FormField

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

TOKEN_STATES: Final = ["active", "expired", "revoked"]
TOKEN_KINDS: Final = ["api", "delivery"]


class TokenMakerAnswer(Answer):
    """The maker of a token."""

    id: int = Field(ge=1)
    username: str


class ProgramTokenAnswer(Answer):
    """The answer of every kind of token, by the last four characters of its secret."""

    id: UUID
    name: str = Field(max_length=TOKEN_NAME_MAX)
    hint: str = Field(json_schema_extra={"minLength": 4, "maxLength": 4})
    state: Annotated[str, one_of(TOKEN_STATES)]
    created_at: datetime
    created_by: TokenMakerAnswer | None = Field(validation_alias="made_by")
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    scope: ScopeAnswer


class AccountTokenAnswer(ProgramTokenAnswer):
    """The answer of every kind of token that is bound to an account."""

    user_id: int = Field(ge=1)
    username: str = Field(validation_alias=AliasPath("user", "username"))


class TokenAnswer(ProgramTokenAnswer):
    """A token, by the last four characters of its secret. A delivery token has no account and no permissions."""

    kind: Annotated[str, one_of(TOKEN_KINDS)] = "api"
    user_id: int | None = Field(ge=1)
    username: str | None = Field(validation_alias=AliasPath("user", "username"))
    permissions: list[str] = Field(json_schema_extra={"maxItems": len(all_permissions())})
    rate: str | None = Field(
        None, description="The rate of a delivery token, such as 6000/minute; null for others."
    )

    @classmethod
    def of_delivery(cls, token: DeliveryToken) -> TokenAnswer:
        """Return the answer for a delivery token."""
        return cls(
            kind="delivery",
            id=token.pk,
            name=token.name,
            hint=token.hint,
            state=token.state,
            user_id=None,
            username=None,
            created_at=token.created_at,
            created_by=TokenMakerAnswer.of(token.made_by) if token.made_by is not None else None,
            expires_at=token.expires_at,
            last_used_at=token.last_used_at,
            revoked_at=token.revoked_at,
            scope=ScopeAnswer.of(ContentScope()),
            permissions=[],
            rate=token.rate or settings.THROTTLE_RATES["delivery"],
        )


class MadeTokenAnswer(TokenAnswer):
    """A token with its secret, which is answered this once."""

    token: str


class LastDayField(forms.DateField):
    """The last day of a token. The value is the last moment of that day in the user's time zone."""

    def __init__(self) -> None:
        super().__init__(
            label=gettext_lazy("Last day"),
            required=False,
            widget=forms.DateInput(attrs={"type": "date"}),
            help_text=gettext_lazy("Leave blank for a token without expiry."),
        )

    def clean(self, value: Any) -> datetime | None:
        day: date | None = super().clean(value)
        zone = timezone.get_current_timezone()
        return datetime.combine(day, time.max, zone).astimezone(UTC) if day else None


class AccountField(forms.ModelChoiceField):  # type: ignore[type-arg]  # not subscriptable at runtime
    """An account field whose value is the account's id."""

    def clean(self, value: Any) -> int:
        found: User = super().clean(value)
        return found.pk


def token_name_field(help_text: str | StrPromise) -> forms.Field:
    """Return a form field for the name of a token."""
    return forms.CharField(
        label=gettext_lazy("Name"), max_length=TOKEN_NAME_MAX, help_text=help_text
    )


LastDay = Annotated[Moment | None, FormField(LastDayField, name="expires_at")]
"""The time at which a token ends."""


class TokenLimits(Body):
    """The content that a token is limited to from now on."""

    scope: ScopeFields


class NewDeliveryToken(Body):
    """A token of a frontend, for the admin's form."""

    name: Annotated[
        Words,
        FormField(
            lambda: token_name_field(
                gettext_lazy("The frontend that uses it, such as “Shop on shop.example.com”.")
            )
        ),
    ] = Field(min_length=1, max_length=TOKEN_NAME_MAX)
    rate: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Rate"),
                max_length=DELIVERY_RATE_MAX,
                required=False,
                help_text=gettext_lazy(
                    "Answers that may be made for it, such as 6000/minute. Leave blank for the "
                    "rate in the settings. Cached answers do not count."
                ),
            )
        ),
    ] = Field("", max_length=DELIVERY_RATE_MAX)
    expires_at: LastDay = None


class NewApiToken(Body):
    name: Annotated[
        Words,
        FormField(
            lambda: token_name_field(
                gettext_lazy("The program that uses it, such as “Website export”.")
            )
        ),
    ] = Field(min_length=1, max_length=TOKEN_NAME_MAX)
    permissions: Annotated[
        list[Annotated[Words, Field(max_length=100)]] | None,
        FormField(
            lambda: forms.MultipleChoiceField(
                label=gettext_lazy("Permissions"),
                choices=marked_permission_choices,
                widget=forms.CheckboxSelectMultiple,
                help_text=gettext_lazy(
                    "A token can only have permissions that the account has. Those for the whole "
                    "site cannot be limited to part of the content."
                ),
            )
        ),
    ] = Field(None, min_length=1, max_length=100, description="Required for an API token.")
    expires_at: LastDay = None
    user_id: Annotated[
        int | None,
        FormField(
            lambda: AccountField(
                label=gettext_lazy("Account"),
                queryset=active_people(),
                help_text=gettext_lazy(
                    "Everything the program writes is recorded under this account."
                ),
            ),
            name="user",
        ),
        # JSON numbers above 2^53 lose precision in JavaScript clients.
    ] = Field(None, ge=1, le=2**53)
    scope: ScopeFields = Field(default_factory=ScopeFields)


class NewToken(NewApiToken):
    """A token of either kind, as the API makes it."""

    kind: Annotated[
        Literal["api", "delivery"],
        Field(
            description="delivery: a token of a frontend, bound to no account, for GET below /api/public/ only."
        ),
    ] = "api"
    rate: Annotated[
        Whole | Words | None,
        Field(
            description="Of a delivery token: calls a minute, or such as 6000/minute. The setting's without it."
        ),
    ] = None
