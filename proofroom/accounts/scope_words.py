"""Descriptions of scopes in words: the content a role or a token is limited to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.utils.translation import gettext as _

from proofroom.core.content_scope import ContentScope, Scoped, label_scope_ids, reading_scopes
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.post_type_names import post_type_labels


def describe_scopes(scopes: Sequence[ContentScope], who: Scoped) -> list[list[str]]:
    """Return, for each scope, one line per limiting part. Names that `who` may not see are replaced.

    Two queries at most, for any number of scopes.
    """
    types = post_type_labels()
    sections = label_scope_ids("sections", {id_ for one in scopes for id_ in one.sections}, who)
    terms = label_scope_ids("terms", {id_ for one in scopes for id_ in one.terms}, who)
    # For a reader with limits, content that is not found may be deleted or out of scope, so don't say "deleted".
    gone = _("hidden") if reading_scopes(who) else _("deleted")
    found = []
    for scope in scopes:
        lines = [
            _line(
                _("Post types: %(names)s"), [in_words(types.get(one, one)) for one in scope.types]
            ),
            _line(_("Languages: %(names)s"), map(language_name, scope.locales)),
            _line(_("Sections: %(names)s"), [sections.get(one, gone) for one in scope.sections]),
            _line(_("Terms: %(names)s"), [terms.get(one, gone) for one in scope.terms]),
        ]
        if scope.is_limited and scope.reads_all:
            lines.append(_("Can see everything else."))
        found.append([line for line in lines if line])
    return found


def describe_scope(scope: ContentScope, who: Scoped) -> list[str]:
    """Return the lines that describe one scope."""
    return describe_scopes([scope], who)[0]


def _line(sentence: str, names: Collection[str] | map[str]) -> str:
    listed = sorted(names)
    return sentence % {"names": ", ".join(listed)} if listed else ""
