"""The definition of a form as input, validated as a whole, with errors by path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, cast

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic import Field as Bounds
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from forms.conditions import find_condition_faults
from forms.confirmation import Confirmation, find_confirmation_faults
from forms.fields import (
    DESCRIPTION_MAX,
    MAX_FIELDS,
    SLUG_MAX,
    SUBMIT_LABEL_MAX,
    SUCCESS_MESSAGE_MAX,
    Field,
    Label,
    find_field_faults,
    stripped,
)
from forms.models import FormDefinition
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.errors import (
    describe_translated,
    details_of,
    refuse,
    shorten_key,
)
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.host_names import has_valid_host
from proofroom.core.validation.input_validation import clean_lines, reject_unstorable
from proofroom.core.validation.limits import LABEL_MAX, URL_MAX
from proofroom.core.validation.slugs import clean_ascii_slug, is_ascii_slug
from proofroom.definitions.richtext.links import is_external, safe_href

_SENTENCES: Final = {
    "string_pattern_mismatch": gettext_noop(
        "Letters, digits and underscores, starting with a letter."
    ),
}
"""Messages that replace the general ones."""


def _safe_target(address: str) -> str:
    if not address:
        return ""
    safe = safe_href(address)
    if safe is None or not (safe.startswith("/") or is_external(safe)) or not has_valid_host(safe):
        raise ValueError(
            _("This must be a path of this site that starts with /, or an http(s) address.")
        )
    return safe


class FormInput(BaseModel):
    """All input of a form except its key, slug and locale."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )

    title: Annotated[
        Label,
        FormField(lambda: forms.CharField(label=gettext_lazy("Title"), max_length=LABEL_MAX)),
    ]
    description: Annotated[
        str,
        stripped(DESCRIPTION_MAX),
        AfterValidator(clean_lines),
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Description"),
                required=False,
                widget=forms.Textarea(attrs={"rows": 3}),
            )
        ),
    ] = ""
    fields: Annotated[list[Field], Bounds(min_length=1, max_length=MAX_FIELDS)]
    submit_label: Annotated[
        Label,
        Bounds(max_length=SUBMIT_LABEL_MAX),
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Button label"),
                max_length=SUBMIT_LABEL_MAX,
                initial=gettext_lazy("Send"),
            )
        ),
    ] = "Send"
    success_message: Annotated[
        str,
        stripped(SUCCESS_MESSAGE_MAX, 1),
        AfterValidator(clean_lines),
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Confirmation message"),
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        ),
    ] = "Thank you."
    redirect_url: Annotated[
        str,
        stripped(URL_MAX),
        AfterValidator(_safe_target),
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Redirect to"),
                required=False,
                help_text=gettext_lazy(
                    "A path on this site or http(s)://…. Leave blank to stay on the page."
                ),
            )
        ),
    ] = ""
    confirmation: Confirmation | None = None

    def write_to(self, form: FormDefinition) -> None:
        """Set the columns of the form, without saving it."""
        for name, value in self:
            if name == "fields":
                value = [field.to_json() for field in self.fields]
            elif isinstance(value, Confirmation):
                value = value.model_dump(mode="json", by_alias=True)
            setattr(form, name, value)


def input_values(form: FormDefinition) -> JsonObject:
    """Return the current values of the form as input for `FormInput`, by API name."""
    values = {to_camel(name): cast(Json, getattr(form, name)) for name in FormInput.model_fields}
    return values | {"redirectUrl": form.redirect_url or None}


def read_definition(values: Mapping[str, Json]) -> FormInput:
    """Parse a definition from values by API name. Raises `RuleViolation` by path."""
    reject_unstorable(values)
    given = dict(values)
    # `input_values` and the API write null for no redirect.
    if given.get("redirectUrl", "") is None:
        given["redirectUrl"] = ""
    try:
        definition = FormInput.model_validate(given)
    except ValidationError as error:
        raise refuse(details_of(error, _sentence)) from None
    fields, confirmation = definition.fields, definition.confirmation
    details: dict[str, list[str]] = {}
    for path, sentence in (*find_field_faults(fields), *find_condition_faults(fields)):
        details.setdefault(f"fields.{path}", []).append(sentence)
    for path, sentence in find_confirmation_faults(confirmation, fields) if confirmation else ():
        details.setdefault(f"confirmation.{path}", []).append(sentence)
    if details:
        raise refuse(details)
    return definition


def clean_slug(slug: object) -> str:
    return clean_ascii_slug("slug", slug, SLUG_MAX)


def clean_locale(locale: object) -> str:
    """Return the locale, or the default one for None. 422 for a locale the site doesn't have."""
    if locale is None:
        return str(settings.CMS_ENV.default_locale)
    if not isinstance(locale, str) or locale not in settings.CMS_ENV.locales:
        raise invalid(
            "locale",
            _("locale must be one of: %(locales)s.")
            % {"locales": ", ".join(settings.CMS_ENV.locales)},
        )
    return locale


def is_slug(text: str) -> bool:
    return is_ascii_slug(text, SLUG_MAX)


def form_not_found(slug: str) -> NotFound:
    return NotFound(_("There is no form %(slug)r.") % {"slug": slug[:100]})


def _sentence(item: ErrorDetails) -> str:
    if item["type"] == "extra_forbidden":
        return _("There is no key %(key)r here.") % {"key": shorten_key(item["loc"][-1])}
    return describe_translated(item, _SENTENCES)
