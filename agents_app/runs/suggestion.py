"""Answers of agents, and the edits they describe.

The keys are the specification's: `{post?, module?, modules?, value?, summary?}`, or `{declined}`
alone. For a field, `value`, `post` and `module` are three forms of its new value. Rich text may be
Markdown. `content.rules` validates the values when the edit is staged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from pydantic.alias_generators import to_camel

from agents_app.runs.field_target import FieldTarget
from agents_app.runs.markdown_texts import as_document, as_documents
from agents_app.runs.module_props import current_props
from content.document.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX, PostDocument
from content.store.document_edits import patch_fields, update_module
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.json import Json
from proofroom.definitions import coerce_markdown

Edit = Callable[[PostDocument], PostDocument]
POST_KEYS: Final = AGENT_FIELD_NAMES | {"customFields", "taxonomyTermIds"}
MAX_SUGGESTION_SUMMARY: Final = 2000
MAX_DECLINED: Final = 1000


class _Answer(BaseModel):
    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, frozen=True
    )

    @model_validator(mode="before")
    @classmethod
    def _without_null_keys(cls, answer: object) -> object:
        """Remove nulls, which strict schemas make models write for omitted keys."""
        if not isinstance(answer, Mapping):
            return answer
        return {key: value for key, value in answer.items() if not cls._is_absent(key, value)}

    @classmethod
    def _is_absent(cls, key: object, value: object) -> bool:
        return value is None


class _DeclinableAnswer(_Answer):
    """An answer that may decline instead, with nothing else."""

    declined: str | None = Field(
        default=None,
        max_length=MAX_DECLINED,
        description="Instead of all else: why there is nothing that you can propose.",
    )

    @model_validator(mode="before")
    @classmethod
    def _declines_alone(cls, answer: object) -> object:
        """Leave out an empty reason, and the nulls and blanks beside a reason."""
        if not isinstance(answer, Mapping) or not isinstance(answer.get("declined"), str):
            return answer
        if not answer["declined"].strip():
            return {key: value for key, value in answer.items() if key != "declined"}
        given = {key: value for key, value in answer.items() if value not in (None, "", [], {})}
        # A summary beside the reason proposes nothing, so it is not worth another paid try.
        if given.keys() - {"declined", "summary"}:
            raise ValueError("declined stands alone: propose something, or decline")
        return given


class SuggestedModuleEdit(_Answer):
    """New props of one module; omitted props stay. `overrides` are for shared (global) modules."""

    post_module_id: str | None = Field(
        default=None, description="Which module; may be left out where the post has only one."
    )

    @classmethod
    def _is_absent(cls, key: object, value: object) -> bool:
        return value is None or (key == "postModuleId" and value == "")

    props: dict[str, JsonValue] | None = None
    overrides: dict[str, JsonValue] | None = None
    content_markdown: str | None = Field(
        default=None, description="Markdown for the module's rich text, in place of that prop."
    )

    @model_validator(mode="after")
    def _says_something(self) -> SuggestedModuleEdit:
        if self.props is None and self.overrides is None and self.content_markdown is None:
            raise ValueError("give props, overrides or contentMarkdown")
        return self


class Suggestion(_DeclinableAnswer):
    """The proposed changes. Leave out what should stay unchanged."""

    post: dict[str, JsonValue] | None = Field(
        default=None, description=f"New values of post fields: {', '.join(sorted(POST_KEYS))}."
    )
    module: SuggestedModuleEdit | None = None
    modules: list[SuggestedModuleEdit] | None = Field(default=None, max_length=100)
    summary: str | None = Field(
        default=None,
        max_length=MAX_SUGGESTION_SUMMARY,
        description="What was changed and why, for the editor, in one to three sentences.",
    )


class FieldSuggestion(_DeclinableAnswer):
    """A new value of the requested field, in one of three forms. `value` is the shortest."""

    value: JsonValue = Field(default=None, description="The new value, in the field's own form.")
    post: dict[str, JsonValue] | None = Field(
        default=None, description="Instead of value, of a post field: its name and new value."
    )
    module: SuggestedModuleEdit | None = Field(
        default=None, description="Instead of value, of a module's prop: props with its new value."
    )
    summary: str | None = Field(default=None, max_length=MAX_SUGGESTION_SUMMARY)

    @classmethod
    def _is_absent(cls, key: object, value: object) -> bool:
        return value is None and key != "value"  # null is how a field is emptied

    @model_validator(mode="after")
    def _says_it_once(self) -> FieldSuggestion:
        if self.declined is not None:
            return self
        forms = [form for form in (self.value, self.post, self.module) if form is not None]
        if len(forms) > 1 or (not forms and "value" not in self.model_fields_set):
            raise ValueError("give one of value, post and module")
        return self


def output_type(scope: str) -> type[Suggestion] | type[FieldSuggestion]:
    """Return the class of an agent's answer in a scope."""
    return FieldSuggestion if scope == "field" else Suggestion


def edit_for(answer: Suggestion | FieldSuggestion, target: FieldTarget | None = None) -> Edit:
    """Return the edit of an answer; `target` is the field of a field answer.

    The edit raises `RuleViolation` or `NotFound` for names the post does not have.
    """
    if isinstance(answer, FieldSuggestion):
        if target is None:
            raise ValueError("a field suggestion needs the field")
        return lambda document: target.edit(value_of(answer, target, document))(document)

    def edit(document: PostDocument) -> PostDocument:
        if answer.post:
            for key in answer.post:
                if key not in POST_KEYS:
                    known = ", ".join(sorted(POST_KEYS))
                    raise invalid(
                        f"post.{key}",
                        f"{key} cannot be proposed here; what can: {known}.",
                        code="not_stageable",
                    )
            document = patch_fields(document, answer.post)
        if answer.module is not None:
            document = _edit_module(document, answer.module, "module")
        for number, module in enumerate(answer.modules or ()):
            document = _edit_module(document, module, f"modules.{number}")
        return document

    return edit


def value_of(answer: FieldSuggestion, target: FieldTarget, document: PostDocument) -> Json:
    """Return the new value of the field, from any form of the answer.

    Raises `RuleViolation` if the answer changes anything else.
    """
    if answer.post is not None:
        named: dict[str, Json] = {}
        for key, value in answer.post.items():
            if key == "customFields" and isinstance(value, Mapping):
                named |= {f"{CUSTOM_PREFIX}{own}": item for own, item in value.items()}
            else:
                named[key] = value
        field_name = None if target.module_id is not None else ".".join(target.path)
        _refuse_others("post", named, field_name, target)
        # `_refuse_others` has checked that the key is there.
        return named[str(field_name)]
    edit = answer.module
    module = target.module(document)
    if edit is None:
        if target.field_type == "richtext":
            return as_document(answer.value, target.value(document))
        if module is None or len(target.path) > 1:
            return answer.value
        own = {target.path[0]: answer.value}
        return as_documents(module.type, own, current_props(document, module))[target.path[0]]
    wanted = edit.post_module_id
    if module is None or (wanted is not None and wanted.lower() != module.id):
        raise _not_asked_for("module" if module is None else "module.postModuleId", target)
    given: dict[str, Json] = {**(edit.props or {}), **(edit.overrides or {})}
    if edit.content_markdown is not None:
        name, _content = coerce_markdown(module.type, edit.content_markdown)
        given[name] = edit.content_markdown
    given = {**as_documents(module.type, given, current_props(document, module))}
    name = target.path[0]
    forms = {"props": edit.props, "overrides": edit.overrides, "contentMarkdown": True}
    form = next(form for form, part in forms.items() if part is not None)
    _refuse_others(f"module.{form}", given, name, target)
    return target.value_within(given[name], {**module.props, **module.overrides}.get(name))


def _refuse_others(
    where: str, given: Mapping[str, Json], asked: str | None, target: FieldTarget
) -> None:
    for name in given:
        if name != asked:
            raise _not_asked_for(f"{where}.{name}", target)
    if asked is None or asked not in given:
        raise _not_asked_for(where, target)


def _not_asked_for(path: str, target: FieldTarget) -> RuleViolation:
    return invalid(
        path[:200],
        f"Only {target.key} was asked for: answer {{value}} with its new value, and leave {path[:200]} out.",
        code="not_asked_for",
    )


def fields_named(answer: Suggestion, document: PostDocument) -> dict[str, str]:
    """Return the fields that an answer names, `post.title` or `module.hero.title`, by their paths in
    the answer.

    Unknown modules are skipped, because the edit reports them.
    """
    fields: dict[str, str] = {}
    for key, value in (answer.post or {}).items():
        if key == "customFields" and isinstance(value, Mapping):
            fields |= {f"post.{key}.{name}": f"post.{CUSTOM_PREFIX}{name}" for name in value}
        else:
            fields[f"post.{key}"] = f"post.{key}"
    edits = {f"modules.{number}": edit for number, edit in enumerate(answer.modules or ())}
    if answer.module is not None:
        edits["module"] = answer.module
    only = document.modules[0] if len(document.modules) == 1 else None
    for where, edit in edits.items():
        id_ = edit.post_module_id
        module = document.module(id_.lower()) if id_ is not None else only
        if module is not None:
            for part in ("props", "overrides"):
                for name in getattr(edit, part) or ():
                    fields[f"{where}.{part}.{name}"] = f"module.{module.type}.{name}"
    return fields


def proposes_nothing(answer: Suggestion | FieldSuggestion) -> bool:
    """Return True if the answer declines, or has a summary but no change."""
    if answer.declined is not None:
        return True
    return isinstance(answer, Suggestion) and not (answer.post or answer.module or answer.modules)


def _edit_module(document: PostDocument, edit: SuggestedModuleEdit, where: str) -> PostDocument:
    module_id = edit.post_module_id
    if module_id is None:
        if len(document.modules) != 1:
            known = ", ".join(f"{module.id} ({module.type})" for module in document.modules)
            raise invalid(
                f"{where}.postModuleId",
                f"Say which module, by its postModuleId: {known or 'none'}.",
            )
        module_id = document.modules[0].id
    module = document.module(module_id.lower())
    props: Mapping[str, Json] | None = edit.props
    overrides: Mapping[str, Json] | None = edit.overrides
    content_markdown = edit.content_markdown
    if module is not None:
        current = current_props(document, module)
        if content_markdown is not None:
            name, _content = coerce_markdown(module.type, content_markdown)
            props, content_markdown = {name: content_markdown, **(props or {})}, None
        props = as_documents(module.type, props or {}, current)
        overrides = as_documents(module.type, overrides or {}, current)
    try:
        return update_module(
            document,
            module_id,
            props=props,
            overrides=overrides,
            content_markdown=content_markdown,
        )
    except NotFound as error:
        raise invalid(f"{where}.postModuleId", error.message) from None
