"""The page with a translation beside its source: write, compare, mark as up to date."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from content.comparison.agreement.mismatch_text import mismatch_text
from content.comparison.agreement.translation_comparison import compare_translation
from content.comparison.change_comparison import kind_at, shape_at
from content.comparison.comparison import compare
from content.comparison.references import ReferenceIds, References, load_titles
from content.document.changes import ABSENT, Value, same, value_at
from content.document.differences import Comparison
from content.document.document import PostDocument
from content.document.labels import POST_GROUP, label_of, module_names
from content.models import Status
from content.presenters.cards import DiffStretch, fold_lines, lines_of, lines_of_value
from content.store.translation_status import is_translated_text
from content.templatetags.modules import has_text
from content.translations.module_structure import (
    add_source_module,
    adopt_source_order,
    remove_own_module,
)
from content.translations.source_comparison import (
    ModulePair,
    SourceComparison,
    compare_with_source,
)
from content.translations.translate import mark_up_to_date
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import Conflict
from proofroom.core.i18n import in_words
from proofroom.definitions.richtext.html import to_html
from proofroom_apps.editorial.post_editor.autosave import copies_of_page, offer_copies
from proofroom_apps.editorial.post_editor.controls import Control
from proofroom_apps.editorial.post_editor.form import (
    FormUnit,
    ModuleSection,
    module_section,
    post_sections,
)
from proofroom_apps.editorial.post_editor.form_data import Sheet, initial_sheet, read_sheet
from proofroom_apps.editorial.post_editor.module_cards import icon_of
from proofroom_apps.editorial.post_editor.page import ControlBuilder, Frame, rights_of
from proofroom_apps.editorial.post_editor.views import decide_on_copy, edit, save
from proofroom_apps.editorial.posts.extensions import translation_run_url
from proofroom_apps.editorial.posts.post_pages import (
    layer_label,
    post_page,
    post_url,
    review_url,
    version_sent,
)

_PLAIN: Final = frozenset({"text", "textarea", "link", "url", "number", "date", "icon"})
_HEADING: Final = re.compile(r"<h([1-6])")
_HEADING_END: Final = re.compile(r"</h[1-6]>")

RowState = Literal["untranslated", "stale", "current", "uncompared"]
_OPEN: Final = frozenset({"untranslated", "stale"})


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value for reading: HTML, text, or lines like in a comparison."""

    html: SafeString | None = None
    text: str = ""
    stretches: tuple[DiffStretch, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.html or self.text or self.stretches)


@dataclass(frozen=True, slots=True)
class TranslatedField:
    """A field of source and translation.

    `changes` are the source's changes since it was translated; `waits` are the layers with another value of the
    translation, with addresses; `mismatches` are texts on what disagrees with the source.
    """

    path: str
    label: str
    state: RowState
    source: ShownValue
    own: ShownValue
    control: Control | None
    changes: tuple[DiffStretch, ...]
    waits: tuple[tuple[str, str], ...]
    mismatches: tuple[str, ...] = ()
    has_own: bool = True

    @property
    def id(self) -> str:
        return "t-" + self.path.replace(".", "-")


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The rows of the post's own fields, or of one module."""

    id: str
    label: str
    icon: str
    pair: ModulePair | None
    rows: tuple[TranslatedField, ...]

    @property
    def is_open(self) -> bool:
        """True if the module itself needs a decision."""
        return self.pair is not None and self.pair.state in ("new", "removed")

    @property
    def is_shown(self) -> bool:
        return bool(self.rows) or (self.pair is not None and self.pair.state != "paired")

    @property
    def needs_work(self) -> bool:
        return self.is_open or any(row.state in _OPEN for row in self.rows)


@dataclass(frozen=True, slots=True)
class TranslationProgress:
    """Number of fields that are up to date."""

    done: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.done


@service_errors_as_http
def translate(request: HttpRequest, post_id: UUID) -> HttpResponseBase:
    """GET shows both (`?layer=review` the staged translation); POST saves, or marks fields as up to date."""
    require(request, "posts.view")
    frame = replace(Frame.read(request, post_id), page="translate")
    if request.method != "POST":
        return show_translation(frame, initial_sheet(frame.document))
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    if paths := request.POST.getlist("checked"):
        return _check(frame, paths)
    verb, _colon, module_id = request.POST.get("structure", "").partition(":")
    if verb:
        return _arrange(frame, verb, module_id)
    do = request.POST.get("do", "")
    if do in ("restore", "discard"):
        return decide_on_copy(frame, is_wanted=do == "restore")
    if do not in ("save", "save-review"):
        # Conflicts are shown on the editor's page, whose buttons differ.
        return edit(request, post_id)
    sheet = read_sheet(frame.document, request.POST, actor_of(request))
    return save(frame, sheet, do, refused=show_translation)


def _check(frame: Frame, paths: Sequence[str]) -> HttpResponse:
    """Mark these paths as up to date; `all` marks every path that is not up to date."""
    post = frame.post
    with service_errors_as_messages(frame.request):
        found = compare_with_source(post, frame.layers, frame.document, actor_of(frame.request))
        seen = frame.request.POST.get("source_version")
        if found and seen is not None and seen != str(found.post.version):
            raise Conflict(
                _("The source changed in the meantime. Check the changes, then mark it again.")
            )
        if "all" in paths:
            paths = found.state.open_paths if found else []
        if paths:
            mark_up_to_date(post_id=post.pk, actor=actor_of(frame.request), paths=paths)
            # A script shows the result in place, without a message.
            if "X-Live" not in frame.request.headers:
                messages.success(frame.request, _("Marked as up to date."))
    return HttpResponseRedirect(frame.request.get_full_path())


def _arrange(frame: Frame, verb: str, module_id: str) -> HttpResponse:
    """Add, remove or order modules as the source did, in the shown layer."""
    request, post, layer = frame.request, frame.post, frame.layer
    actor, version = actor_of(request), version_sent(request)
    with service_errors_as_messages(request):
        if verb == "add":
            add_source_module(
                post_id=post.pk,
                module_id=module_id,
                actor=actor,
                layer=layer,
                expected_version=version,
            )
            messages.success(request, _("Module added, with the text of the source."))
        elif verb == "remove":
            remove_own_module(
                post_id=post.pk,
                module_id=module_id,
                actor=actor,
                layer=layer,
                expected_version=version,
            )
            messages.success(request, _("Module removed."))
        elif verb == "order":
            adopt_source_order(post_id=post.pk, actor=actor, layer=layer, expected_version=version)
            messages.success(request, _("Modules now follow the order of the source."))
    return HttpResponseRedirect(request.get_full_path())


def show_translation(
    frame: Frame,
    sheet: Sheet,
    *,
    errors: Mapping[str, Sequence[str]] | None = None,
    more: Mapping[str, Any] | None = None,
    sent: bool = False,
    status: int = 200,
) -> HttpResponse:
    """Return the page. With `sent`, keep the version from the form."""
    request, post, layers, layer = frame.request, frame.post, frame.layers, frame.layer
    comparison = compare_with_source(post, layers, frame.document, actor_of(request))
    if comparison is None:
        return HttpResponseRedirect(post_url("translations", post))
    rights = rights_of(frame)
    may_write = rights["may_stage"] or (layer is None and rights["may_save"])
    builder = ControlBuilder(frame, sheet, errors or {}) if may_write else None
    mismatches = _mismatches(frame, sheet, comparison)
    groups = _RowBuilder(frame, sheet, comparison, builder, mismatches=mismatches).groups()
    rows = [row for group in groups for row in group.rows]
    left = sum(row.state in _OPEN for row in rows) + sum(group.is_open for group in groups)
    # Fields that cannot be compared with the source are neither done nor left.
    compared = sum(row.state != "uncompared" for row in rows)
    total = compared + sum(group.is_open for group in groups)
    run_url = translation_run_url(request, post)
    now = layers.review.version if layer else post.version
    # `was`, `sources` and `touched` contain only fields that the page can submit.
    own = {row.path for row in rows if row.control is not None}
    wrong = [found for row in rows if row.control for found in row.control.to_correct()]
    copies = copies_of_page(frame.sent)
    context = {
        **rights,
        "may_write": may_write,
        "may_check": may(request, "posts.translate", post),
        "layer": layer or "",
        "version": version_sent(request) if sent else now,
        "copy": copies.key,
        "follows": copies.fields,
        "offered": offer_copies(request, post.pk, frame.document, layer, copies)
        if may_write
        else (),
        "source": comparison.post,
        "groups": groups,
        "mismatches": _named_mismatches(frame, mismatches, {row.path: row.id for row in rows}),
        "progress": TranslationProgress(total - left, total),
        "was": json.dumps({path: sheet.was[path] for path in sorted(own) if path in sheet.was}),
        # After a submit, keep the source values that the user read.
        "sources": frame.sent.get("sources", "")
        if sent
        else json.dumps(
            {path: hash_ for path, hash_ in comparison.compared.items() if path in own}
        ),
        "touched": json.dumps(sorted({unit.path for unit in sheet.touched()} & own)),
        "to_correct": wrong,
        "unplaced": builder.unplaced() if builder else [],
        "buttons": _buttons(frame, rights),
        "saved_at": frame.saved_at,
        "may_arrange": rights["may_arrange"]
        and may_write
        and (layer is not None or rights["may_save"]),
        "is_order_changed": comparison.order != frame.document.order,
        "run_url": run_url,
        "run_all_url": f"{run_url}&fields=stale"
        if run_url and comparison.state.stale_or_untranslated_paths
        else "",
        "review_count": len(layers.review.changes),
        **(more or {}),
    }
    return post_page(
        request,
        "admin/posts/translate.html",
        post,
        layers,
        context,
        title=_("Translate: %(title)s") % {"title": post.title},
        tab="translate",
        status=status,
    )


def _mismatches(
    frame: Frame, sheet: Sheet, comparison: SourceComparison
) -> dict[str, tuple[str, ...]]:
    """Return the mismatches of translation and source in words, by path.

    Modules without a counterpart and untranslated texts have separate marks.
    """
    found: dict[str, tuple[str, ...]] = {}
    copies = {of: own for own, of in comparison.source_ids.items()}
    for one in compare_translation(
        comparison.document, frame.document, copies, dict(sheet.shared.values())
    ):
        copied = one.kind == "language" and one.path in comparison.state.untranslated_paths
        if one.kind != "module" and not copied:
            found[one.path] = (*found.get(one.path, ()), mismatch_text(one))
    return found


def _named_mismatches(
    frame: Frame, mismatches: Mapping[str, Sequence[str]], ids: Mapping[str, str]
) -> list[tuple[str, str, Sequence[str]]]:
    """Return the fields that disagree: id of the row, label, and mismatches."""
    names = module_names(frame.document)
    return [
        (ids.get(path, ""), label_of(path, frame.document, names), texts)
        for path, texts in mismatches.items()
    ]


def _buttons(frame: Frame, rights: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return value and label of the save buttons, the main one first."""
    found: list[tuple[str, str]] = []
    if frame.layer is not None:
        return [("save-review", _("Save to Review"))] if rights["may_stage"] else []
    if rights["may_save"]:
        labels = {Status.DRAFT: _("Save draft"), Status.PUBLISHED: _("Publish changes")}
        found.append(("save", labels.get(Status(frame.post.status), _("Save changes"))))
    if rights["may_stage"]:
        found.append(("save-review", _("Submit for review")))
    return found


@dataclass(slots=True)
class _RowBuilder:
    """Builds the rows. Titles of references are loaded once for all."""

    frame: Frame
    sheet: Sheet
    comparison: SourceComparison
    builder: ControlBuilder | None
    references: References = field(default_factory=References)
    changes: dict[str, Comparison] = field(default_factory=dict)
    mismatches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def groups(self) -> list[RowGroup]:
        found = self.comparison
        shared = dict(self.sheet.shared.values())
        own = {section.id: section for section in self.sheet.modules}
        of_source = {
            unit.path: unit for part in post_sections(found.document) for unit in part.units
        }
        parts: list[tuple[ModulePair | None, list[tuple[FormUnit | None, FormUnit | None]]]] = []
        units = [unit for part in self.sheet.sections for unit in part.units]
        pairs = [(of_source.get(unit.path), unit) for unit in units]
        parts.append((None, [pair for pair in pairs if self._is_shown(*pair)]))
        for pair in found.modules:
            left = module_section(pair.source, shared).units if pair.source else ()
            right = own[pair.own.id].units if pair.own and pair.own.id in own else ()
            by_name = {unit.field.name: unit for unit in left}
            both = (
                [(by_name.get(unit.field.name), unit) for unit in right]
                if pair.own
                else [(unit, None) for unit in left]
            )
            parts.append((pair, [one for one in both if self._is_shown(*one)]))
        self._look_up(one for _pair, rows in parts for one in rows)
        names = {**module_names(found.document), **module_names(self.frame.document)}
        return [self._group(pair, rows, names, own) for pair, rows in parts]

    def _is_shown(self, source: FormUnit | None, own: FormUnit | None) -> bool:
        """Return whether to show a row: it has text on either side, or is out of date."""
        unit = own or source
        if unit is None or (own is not None and own.path in self.comparison.state.stale_paths):
            return unit is not None
        document = self.frame.document if own is not None else self.comparison.document
        if not is_translated_text(unit.path, document):
            return False
        return any(one is not None and not _is_blank(one.value) for one in (source, own))

    def _look_up(self, rows: Iterable[tuple[FormUnit | None, FormUnit | None]]) -> None:
        found, wanted = self.comparison, ReferenceIds()
        for source, own in rows:
            for unit, document in ((source, found.document), (own, self.frame.document)):
                # Only values that are drawn in lines need titles, see `_shown`.
                if unit is None or unit.field.kind in _PLAIN or unit.field.kind == "richtext":
                    continue
                value = _stored(document, unit)
                kind, nested = kind_at(unit.path, document)
                if kind in wanted.ids:
                    wanted.add(kind, value)
                elif nested is not None:
                    for item in value if isinstance(value, list) else [value]:
                        wanted.add_nested(nested, item)
            if own is None or own.path not in found.earlier:
                continue
            path = found.source_path(own.path)
            change = compare(
                found.earlier[own.path],
                value_at(found.document, path),
                shape_at(path, found.document),
                language=found.document.locale,
            )
            wanted.add_differences(one for line in change.lines for one in line.differences)
            self.changes[own.path] = change
        self.references = load_titles(wanted, actor_of(self.frame.request))

    def _group(
        self,
        pair: ModulePair | None,
        rows: list[tuple[FormUnit | None, FormUnit | None]],
        names: Mapping[str, str],
        own: Mapping[str, ModuleSection],
    ) -> RowGroup:
        if pair is None:
            shown = tuple(self._row(source, unit, None) for source, unit in rows)
            return RowGroup("post", str(POST_GROUP), "file", None, shown)
        module = pair.own or pair.source
        if module is None:
            raise ValueError("a pair has a module")
        section = own.get(pair.own.id) if pair.own else None
        return RowGroup(
            module.id,
            names.get(module.id, module.type),
            icon_of(module.type),
            pair,
            tuple(self._row(source, unit, section) for source, unit in rows),
        )

    def _row(
        self, source: FormUnit | None, own: FormUnit | None, section: ModuleSection | None
    ) -> TranslatedField:
        found = self.comparison
        unit = own or source
        if unit is None:
            raise ValueError("a row has a field")
        path = unit.path
        change = self.changes.get(path)
        control = None
        if own is not None and self.builder is not None:
            (control,) = self.builder.build([own], section)
        layers = self.frame.layers
        waits = [
            (layer_label(view.layer), review_url(self.frame.post, view.layer))
            for view in (layers.review, layers.ai_review)
            # The field itself shows the value of the shown layer.
            if view.layer != self.frame.layer and own and path in view.changes.paths
        ]
        return TranslatedField(
            path,
            in_words(unit.field.label),
            self._state_of(path) if own is not None else "uncompared",
            self._shown(source, found.document) if source else ShownValue(),
            self._shown(own, self.frame.document) if own and control is None else ShownValue(),
            control,
            tuple(fold_lines(lines_of(change, self.references))) if change else (),
            tuple(waits),
            self.mismatches.get(path, ()) if own is not None else (),
            has_own=own is not None,
        )

    def _state_of(self, path: str) -> RowState:
        found = self.comparison
        shown, live = self.frame.document, self.frame.layers.live
        # A layer may contain text that the live translation lacks.
        is_live = same(value_at(shown, path), value_at(live, path))
        if is_live and path in found.state.untranslated_paths:
            return "untranslated"
        if path in found.state.stale_paths:
            return "stale"
        return "current" if path in found.compared else "uncompared"

    def _shown(self, unit: FormUnit, document: PostDocument) -> ShownValue:
        value = _stored(document, unit)
        if _is_blank(value):
            return ShownValue()
        if unit.field.kind == "richtext":
            # Headings in the text must not join this page's outline. Texts are escaped, so these are tags.
            html = _HEADING.sub(r'<p class="text-heading text-heading-\1"', to_html(value))
            html = _HEADING_END.sub("</p>", html)
            return ShownValue(html=mark_safe(html))  # noqa: S308 the renderer escapes every text
        if unit.field.kind in _PLAIN:
            return ShownValue(text=str(value))
        lines = lines_of_value(value, shape_at(unit.path, document), self.references)
        return ShownValue(stretches=tuple(fold_lines(lines)))


def _stored(document: PostDocument, unit: FormUnit) -> Value:
    """Return the stored value, or the global module's if the post has no override."""
    value = value_at(document, unit.path)
    return unit.value if value is ABSENT else value


def _is_blank(value: Value) -> bool:
    if isinstance(value, Mapping) and value.get("type") == "doc":
        return not has_text(value)
    return value is ABSENT or value is None or value in ("", [], (), {})
