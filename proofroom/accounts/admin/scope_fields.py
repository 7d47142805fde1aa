"""Form fields that limit rights to a part of the content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from proofroom.core.content_scope import ContentScope, Scoped, allowed_names, scope_dimensions
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name, site_languages
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.validation.input_validation import parse_uuid, parse_uuids


class ScopeForm(forms.Form):
    """A form with fields for a scope after its own fields. Empty fields limit nothing.

    `who`: the actor; content outside their own limits is neither offered nor named. `scope`: the initial scope, and
    after validation the chosen one. Its page includes `admin/cms/field_words.html`.
    """

    def __init__(
        self, *args: Any, who: Scoped, scope: ContentScope | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        current = scope or ContentScope()
        # Types and languages that no longer exist stay as choices, so that a user can remove them from the scope.
        types = {**{name: name for name in current.types}, **post_type_labels()}
        locales = {
            **{code: language_name(code) for code in current.locales},
            **dict(site_languages()),
        }
        of_types = {*allowed_names(who.scopes, "types", types), *current.types}
        of_locales = {*allowed_names(who.scopes, "locales", locales), *current.locales}
        self.fields["types"] = forms.MultipleChoiceField(
            label=_("Limit to post types"),
            choices=[(one, in_words(types[one])) for one in types if one in of_types],
            widget=forms.CheckboxSelectMultiple,
            required=False,
            initial=sorted(current.types),
            help_text=_("Select nothing to allow all."),
        )
        # With a single language there is nothing to choose.
        if len(of_locales) > 1 or current.locales:
            self.fields["locales"] = forms.MultipleChoiceField(
                label=_("Limit to languages"),
                choices=[(one, locales[one]) for one in locales if one in of_locales],
                widget=forms.CheckboxSelectMultiple,
                required=False,
                initial=sorted(current.locales),
                help_text=_("Select nothing to allow all."),
            )
        self.fields["sections"] = IdsField(
            "sections",
            who,
            label=_("Limit to sections"),
            initial=current.sections,
            help_text=_("A page with all pages below it, in every language."),
        )
        self.fields["terms"] = IdsField(
            "terms",
            who,
            label=_("Limit to terms"),
            initial=current.terms,
            help_text=_("Posts with at least one of these terms."),
        )
        # An actor who does not see all content cannot give that right.
        if all(own.reads_all for own in who.scopes):
            self.fields["reads_all"] = forms.BooleanField(
                label=_("Can see all other content"),
                required=False,
                initial=current.reads_all,
                help_text=_(
                    "Other posts can then be read, but not changed. Otherwise, they are hidden."
                ),
            )

    @property
    def scope(self) -> ContentScope:
        """The chosen scope."""
        chosen = self.cleaned_data
        return ContentScope(
            types=frozenset(chosen["types"]),
            locales=frozenset(chosen.get("locales", ())),
            sections=frozenset(chosen["sections"]),
            terms=frozenset(chosen["terms"]),
            reads_all=chosen.get("reads_all", False),
        )


class SearchCheckboxes(forms.CheckboxSelectMultiple):
    """The selected objects as checkboxes, with a search for more. Without scripts, a few suggestions."""

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
        part = scope_dimensions.get(self.part)
        # A deleted object stays selected until a user removes it: an empty scope would allow everything.
        offered = dict.fromkeys(chosen, _("deleted"))
        if part is not None:
            # A user with limits gets only their own scope's objects. The search finds the rest they may see.
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
    """Ids of objects. Malformed ids are refused here, unknown ids by the service."""

    def __init__(self, part: str, who: Scoped, **kwargs: Any) -> None:
        super().__init__(widget=SearchCheckboxes(part, who), required=False, **kwargs)

    def valid_value(self, value: Any) -> bool:
        return parse_uuid(str(value)) is not None

    def clean(self, value: Any) -> list[UUID]:
        return [UUID(one) for one in super().clean(value)]
