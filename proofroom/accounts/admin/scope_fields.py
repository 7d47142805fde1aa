"""The fields of a form that asks for the content that somebody's rights are limited to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from proofroom.core.content_scope import ContentScope, Scoped, names_left, scope_parts
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name, site_languages
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.validation.input_validation import parse_uuid, parse_uuids


class ScopeForm(forms.Form):
    """A form that asks, after its own fields, what content something is limited to; to all where nothing is chosen.

    `who` is asked: what is outside of their own limits is neither offered nor named. `scope` is what the form starts
    with, and of a valid form what was chosen. Its page includes `admin/cms/field_words.html`.
    """

    def __init__(
        self, *args: Any, who: Scoped, scope: ContentScope | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        given = scope or ContentScope()
        # What is limited to something that is gone can still be freed of it.
        types = {**{name: name for name in given.types}, **post_type_labels()}
        locales = {
            **{code: language_name(code) for code in given.locales},
            **dict(site_languages()),
        }
        of_types = {*names_left(who.scopes, "types", types), *given.types}
        of_locales = {*names_left(who.scopes, "locales", locales), *given.locales}
        self.fields["types"] = forms.MultipleChoiceField(
            label=_("Limit to post types"),
            choices=[(one, in_words(types[one])) for one in types if one in of_types],
            widget=forms.CheckboxSelectMultiple,
            required=False,
            initial=sorted(given.types),
            help_text=_("Select nothing to allow all."),
        )
        if len(of_locales) > 1 or given.locales:
            self.fields["locales"] = forms.MultipleChoiceField(
                label=_("Limit to languages"),
                choices=[(one, locales[one]) for one in locales if one in of_locales],
                widget=forms.CheckboxSelectMultiple,
                required=False,
                initial=sorted(given.locales),
                help_text=_("Select nothing to allow all."),
            )
        self.fields["sections"] = IdsField(
            "sections",
            who,
            label=_("Limit to sections"),
            initial=given.sections,
            help_text=_("A page with all pages below it, in every language."),
        )
        self.fields["terms"] = IdsField(
            "terms",
            who,
            label=_("Limit to terms"),
            initial=given.terms,
            help_text=_("Posts with at least one of these terms."),
        )
        if all(own.reads_all for own in who.scopes):
            self.fields["reads_all"] = forms.BooleanField(
                label=_("Can see all other content"),
                required=False,
                initial=given.reads_all,
                help_text=_(
                    "Other posts can then be read, but not changed. Otherwise they are hidden."
                ),
            )

    @property
    def scope(self) -> ContentScope:
        """What was chosen."""
        chosen = self.cleaned_data
        return ContentScope(
            types=frozenset(chosen["types"]),
            locales=frozenset(chosen.get("locales", ())),
            sections=frozenset(chosen["sections"]),
            terms=frozenset(chosen["terms"]),
            reads_all=chosen.get("reads_all", False),
        )


class FoundChecks(forms.CheckboxSelectMultiple):
    """What is chosen, as checkboxes, and a search for more. Without scripts, some that are likely to be chosen."""

    def __init__(self, part: str, who: Scoped) -> None:
        super().__init__()
        self.part, self.who = part, who

    def render(
        self,
        name: str,
        value: Iterable[Any] | None,
        attrs: Mapping[str, Any] | None = None,
        renderer: Any = None,
    ) -> SafeString:
        chosen = parse_uuids(value or ())
        part = scope_parts.get(self.part)
        # What is gone stays chosen until somebody takes it out: without it, the rights would reach everything.
        offered = dict.fromkeys(chosen, _("deleted"))
        if part is not None:
            # Of somebody with limits, only these: the rest is found by a search, which shows what they may see.
            own = {id_ for scope in self.who.scopes for id_ in getattr(scope, self.part)}
            known = part.label_all({*own, *chosen}, self.who)
            offered = {**({} if self.who.scopes else part.offer(self.who)), **offered, **known}
        context = {
            "name": name,
            "kind": "post-reference" if self.part == "sections" else "taxonomy-reference",
            "options": [(id_, label, id_ in chosen) for id_, label in offered.items()],
        }
        return render_to_string("admin/forms/found_checks.html", context)


class IdsField(forms.MultipleChoiceField):
    """Ids of things that a service will look for; what is no id is refused here."""

    def __init__(self, part: str, who: Scoped, **kwargs: Any) -> None:
        super().__init__(widget=FoundChecks(part, who), required=False, **kwargs)

    def valid_value(self, value: Any) -> bool:
        return parse_uuid(str(value)) is not None

    def clean(self, value: Any) -> list[UUID]:
        return [UUID(one) for one in super().clean(value)]
