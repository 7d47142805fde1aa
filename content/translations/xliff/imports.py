"""Imports translations from XLIFF into Review of the translated posts. Nothing goes live."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.changes import ABSENT, Value, same, value_at
from content.document.document import CUSTOM_PREFIX, PostDocument
from content.layers.stage import require_layer, stage
from content.models import CopyOrigin, Layer, Post
from content.store import document_edits, post_repository
from content.store.layer_state import open_layers
from content.store.scopes import visible_to
from content.store.translation_status import current_source_hashes, hash_value
from content.translations.source_comparison import find_earlier_values
from content.translations.translate import create_translation
from content.translations.xliff.exports import find_translation, target_path
from content.translations.xliff.inline import (
    InlineError,
    Segments,
    document_of,
    plain_of,
    segments_of,
    text_of_segment,
    with_alts,
)
from content.translations.xliff.reader import ReadFile, ReadUnit, read_xliff
from content.translations.xliff.texts import TextValue, texts_of, value_at_place, with_value_at
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, RuleViolation, invalid
from proofroom.core.i18n.languages import require_site_language
from proofroom.core.json import Json, JsonObject

logger = logging.getLogger(__name__)
UnitOutcome = Literal["staged", "stale", "unchanged", "untranslated", "failed"]
_ALT: Final = ":alt-"
_UNKNOWN_HASH: Final = "unknown"


@dataclass(frozen=True, slots=True)
class UnitReport:
    """The outcome of a unit. `stale`: staged, but the source changed since it was exported."""

    unit: str
    label: str
    outcome: UnitOutcome
    message: str = ""


@dataclass(slots=True)
class FileReport:
    """The outcome of a post.

    `translation_id` is None if it failed, in a dry run that would create it, or if nothing was translated yet.
    """

    post_id: str
    title: str = ""
    translation_id: UUID | None = None
    is_new: bool = False
    problem: str = ""
    units: list[UnitReport] = field(default_factory=list)

    def count(self, outcome: UnitOutcome) -> int:
        return sum(unit.outcome == outcome for unit in self.units)


def import_xliff(*, content: bytes, actor: Actor, is_dry_run: bool = False) -> list[FileReport]:
    """Stage the translations of a document in Review. A translation that does not exist becomes a draft first.

    The problems of one post or unit do not stop the others. Raises `RuleViolation` on `file` if the document cannot
    be read, `NotAllowed`.
    """
    actor.require_person("import translations")
    actor.require("posts.translate")
    require_layer(actor, Layer.REVIEW)
    document = read_xliff(content)
    try:
        require_site_language(document.target)
    except RuleViolation as error:
        raise invalid("file", error.message) from None
    reports: list[FileReport] = []
    for file in document.files:
        report = FileReport(file.post_id)
        reports.append(report)
        try:
            with transaction.atomic():
                _FileImport(file, document.target, actor, report).run()
                transaction.set_rollback(is_dry_run)
        except CmsError as error:
            report.problem = error.message
            report.units.clear()
            report.translation_id = None
        if is_dry_run and report.is_new:
            report.translation_id = None
    return reports


@dataclass
class _FileImport:
    """The import of the units of one post."""

    file: ReadFile
    locale: str
    actor: Actor
    report: FileReport

    def run(self) -> None:
        seen = visible_to(Post.objects.kept(), self.actor)
        source = seen.filter(pk=self.file.post_id).first()
        if source is None:
            raise invalid("file", _("The post was deleted, or you may not see it."))
        self.report.title = source.title
        found = find_translation(source, self.locale, self.actor)
        if found is None:
            if not self._has_translations():
                for unit in self.file.units:
                    if _ALT not in unit.id:
                        self._say(unit, "untranslated")
                return
            made = create_translation(post_id=source.pk, locale=self.locale, actor=self.actor)
            self.report.is_new = True
            found = made, CopyOrigin.objects.get(post=made)
        self.post, self.origin = found
        self.report.translation_id = self.post.pk
        self.source = post_repository.load(source)
        self.texts = texts_of(self.source)
        self.review = open_layers(self.post).review.document
        self._find_earlier(source)
        self._stage(self._translated())

    def _has_translations(self) -> bool:
        return any(
            segment.target is not None for unit in self.file.units for segment in unit.segments
        )

    def _find_earlier(self, source: Post) -> None:
        """Load the values from which the units were made, where the source has changed since."""
        self.is_stale: dict[str, bool] = {}
        wanted: dict[str, tuple[str, str]] = {}
        for unit in self.file.units:
            text = self.texts.get(unit.id.partition(_ALT)[0])
            if text is None or _ALT in unit.id:
                continue
            whole = value_at(self.source, text.path)
            is_changed = unit.source_hash != hash_value(None if whole is ABSENT else whole)
            self.is_stale[unit.id] = is_changed and not _is_same_source(unit, text)
            if self.is_stale[unit.id] and unit.source_hash:
                wanted[unit.id] = (text.path, unit.source_hash)
        self.earlier = find_earlier_values(source, wanted)

    def _translated(self) -> dict[str, dict[str, Json]]:
        """Return the new values by path in the translation, each with the unit that gave it by its id."""
        alts: dict[str, dict[str, str]] = defaultdict(dict)
        for unit in self.file.units:
            of, is_alt, code = unit.id.partition(_ALT)
            if is_alt and (words := _plain_target(unit)):
                alts[of][code] = words
        found: dict[str, dict[str, Json]] = defaultdict(dict)
        for unit in self.file.units:
            if _ALT in unit.id:
                continue
            try:
                place = self._translate(unit, alts.get(unit.id, {}))
            except InlineError as error:
                text = _("The inline code %(id)s does not fit the source.")
                self._say(unit, "failed", text % {"id": str(error)[:80]})
                continue
            if place is not None:
                path, value = place
                found[path][unit.id] = value
        return found

    def _translate(self, unit: ReadUnit, alts: Mapping[str, str]) -> tuple[str, Json] | None:
        """Return the path and the text of a unit, or None after a report. Raises `InlineError`."""
        text = self.texts.get(unit.id)
        path = target_path(text.path, self.origin) if text is not None else None
        if text is None or path is None:
            self._say(unit, "failed", _("The post no longer has this text."))
            return None
        if not unit.segments:
            self._say(unit, "failed", _("Parts of this text are missing from the file."))
            return None
        if all(one.target is None for one in unit.segments) and not alts:
            self._say(unit, "untranslated")
            return None
        value, segments = self._source_of(unit, text)
        if segments is None or len(segments.sources) != len(unit.segments):
            sentence = _(
                "The source has changed, so the parts of this text do not fit. Export it again."
            )
            self._say(unit, "failed", sentence)
            return None
        targets = [one.target for one in unit.segments if one.target is not None]
        present = self._present(path, text)
        if not targets:
            with_new_alts = with_alts(present, segments.codes, alts)
            if with_new_alts is None:
                sentence = _("The translation does not have this item. Add it there first.")
                self._say(unit, "failed", sentence)
                return None
            return path, with_new_alts
        if missing := len(unit.segments) - len(targets):
            sentence = _("%(number)s parts of this text have no translation yet.")
            self._say(unit, "failed", sentence % {"number": missing})
            return None
        if not text.is_rich:
            return path, text_of_segment(targets[0])
        made, missing_codes = document_of(
            value, targets, segments.codes, present=present, alts=alts
        )
        if missing_codes:
            sentence = _("Marks, links or images of the source are missing: %(ids)s.")
            self._notes[unit.id] = sentence % {"ids": ", ".join(missing_codes)[:200]}
        return path, made

    def _source_of(self, unit: ReadUnit, text: TextValue) -> tuple[Json, Segments | None]:
        """Return the source's text that a unit was made from; None for its segments if it is not known."""
        if not self.is_stale[unit.id]:
            return text.value, segments_of(text.value, text.unit_id)
        earlier: Value = self.earlier.get(unit.id, ABSENT)
        value = value_at_place(earlier, text.place)
        if value is not None:
            return value, segments_of(value, text.unit_id)
        # A plain text has no structure to know.
        return text.value, None if text.is_rich else segments_of(text.value)

    def _present(self, path: str, text: TextValue) -> Json:
        return value_at_place(value_at(self.review, path), text.place)

    def _stage(self, found: Mapping[str, Mapping[str, Json]]) -> None:
        """Stage the texts. Units that the rules refuse are reported, and the others are staged."""
        left = {path: dict(values) for path, values in found.items()}
        units = {unit.id: unit for unit in self.file.units}
        while True:
            values = self._whole_values(left, units)
            hashes = current_source_hashes(self.post)
            for path, texts in left.items():
                stale = [id_ for id_ in texts if self.is_stale[id_]]
                if stale:
                    # A tool may have dropped the hash. The translation is out of date all the same.
                    hashes[path] = units[stale[0]].source_hash or _UNKNOWN_HASH
            try:
                with transaction.atomic():
                    staged = stage(
                        post_id=self.post.pk,
                        layer=Layer.REVIEW,
                        actor=self.actor,
                        edit=lambda document, values=values: _with_values(document, values),  # type: ignore[misc]  # bound now
                        source_hashes=hashes,
                    )
                break
            except RuleViolation as error:
                refused = [path for path in left if any(_names(key, path) for key in error.details)]
                if not refused:
                    raise
                for path in refused:
                    sentences = next(
                        said for key, said in error.details.items() if _names(key, path)
                    )
                    for id_ in left.pop(path):
                        self._say(units[id_], "failed", " ".join(sentences))
        changed = set(staged.paths)
        for path, texts in left.items():
            for id_ in texts:
                outcome: UnitOutcome = "staged" if path in changed else "unchanged"
                note = self._notes.get(id_, "")
                if outcome == "staged" and self.is_stale[id_]:
                    outcome = "stale"
                    note = _("The source has changed since the export.") + (
                        f" {note}" if note else ""
                    )
                self._say(units[id_], outcome, note)

    def _whole_values(
        self, left: dict[str, dict[str, Json]], units: Mapping[str, ReadUnit]
    ) -> dict[str, Json]:
        """Return the value of each path with its translated texts. Texts without a place are reported."""
        values: dict[str, Json] = {}
        for path, texts in list(left.items()):
            value = value_at_place(value_at(self.review, path), ())
            for id_, text in list(texts.items()):
                try:
                    value = with_value_at(value, self.texts[id_].place, text)
                except LookupError:
                    del texts[id_]
                    sentence = _("The translation does not have this item. Add it there first.")
                    self._say(units[id_], "failed", sentence)
            if texts:
                values[path] = value
            else:
                del left[path]
        return values

    def _say(self, unit: ReadUnit, outcome: UnitOutcome, message: str = "") -> None:
        self.report.units.append(UnitReport(unit.id, unit.label, outcome, message))

    def __post_init__(self) -> None:
        self._notes: dict[str, str] = {}


def _with_values(document: PostDocument, values: Mapping[str, Json]) -> PostDocument:
    fields: JsonObject = {}
    custom: JsonObject = {}
    for path, value in values.items():
        if path.startswith("post."):
            name = path.removeprefix("post.")
            if name.startswith(CUSTOM_PREFIX):
                custom[name.removeprefix(CUSTOM_PREFIX)] = value
            else:
                fields[name] = value
            continue
        _modules, module_id, part, name = path.split(".", 3)
        if same(value_at(document, path), value):
            continue
        given: dict[str, JsonObject] = {part: {name: value}}
        document = document_edits.update_module(document, module_id, **given)  # type: ignore[arg-type]  # props or overrides
    if custom:
        fields["customFields"] = custom
    return document_edits.patch_fields(document, fields)


def _is_same_source(unit: ReadUnit, text: TextValue) -> bool:
    """Return whether the source in a file is the present one, as far as readers see it."""
    now = [plain_of(one) for one in segments_of(text.value, text.unit_id).sources]
    return now == [plain_of(segment.source) for segment in unit.segments]


def _plain_target(unit: ReadUnit) -> str:
    targets = [segment.target for segment in unit.segments]
    try:
        return " ".join(text_of_segment(one) for one in targets if one is not None).strip()
    except InlineError:
        return ""


def _names(key: str, path: str) -> bool:
    """Return whether the key of a refusal names a path, or a value inside it."""
    plain = path.removeprefix("post.")
    return key in (path, plain) or key.startswith((f"{path}.", f"{plain}."))
