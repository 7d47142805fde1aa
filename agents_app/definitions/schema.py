"""The schema of an agent file. Field names are in camelCase, as in the specification."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, Union

from pydantic import (
    Field,
    JsonValue,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from agents_app.definitions.field_keys import covers, field_of_key
from agents_app.definitions.reaction_templates import ROOTS, check_template
from agents_app.definitions.reaction_type import reaction_types
from agents_app.providers.llm_config import LlmConfig
from proofroom.core.conditions import Condition
from proofroom.core.definition_files import DefinitionPart, FileDefinition
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.webhooks.rules import refusals_as_value_errors


class ToolConfig(DefinitionPart):
    tool_name: str
    tool_params: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("tool_params")
    @classmethod
    def _params_are_sound(cls, params: dict[str, JsonValue]) -> dict[str, JsonValue]:
        refusals_as_value_errors(lambda: reject_unstorable(params, "toolParams"))
        check_template(params)
        return params


class _Reaction(DefinitionPart):
    trigger: Literal["always", "on_success", "on_error", "on_condition"] = "always"
    condition: Condition | None = None

    @field_validator("condition")
    @classmethod
    def _field_is_known(cls, condition: Condition | None) -> Condition | None:
        if condition is not None and condition.field.partition(".")[0] not in ROOTS:
            known = ", ".join(sorted(ROOTS))
            raise ValueError(f"the field {condition.field[:60]!r} must begin with one of: {known}")
        return condition

    @model_validator(mode="after")
    def _condition_fits(self) -> _Reaction:
        if (self.trigger == "on_condition") != (self.condition is not None):
            raise ValueError(
                "the trigger on_condition needs a condition, and other triggers cannot have one"
            )
        return self


class CallReaction(_Reaction):
    """A reaction that calls another system. `config` is the `Config` of its type."""

    type: str
    config: DefinitionPart


class ToolReaction(_Reaction):
    type: Literal["mcp_tool"]
    config: ToolConfig


if TYPE_CHECKING:
    Reaction: TypeAlias = CallReaction | ToolReaction
else:
    _CALLS = [
        create_model(
            f"{type(one).__name__}Reaction",
            __base__=CallReaction,
            type=(Literal[name], ...),
            config=(one.Config, ...),
        )
        for name, one in reaction_types().items()
    ]
    Reaction = Annotated[Union[*_CALLS, ToolReaction], Field(discriminator="type")]


class Scope(StrEnum):
    """The situations in which an agent runs."""

    DROPDOWN = "dropdown"
    GLOBAL = "global"
    FIELD = "field"
    BULK = "posts.bulk"
    PUBLISH = "post.publish"
    APPROVE = "post.approve"
    REVIEW_SAVE = "post.review.save"
    REVIEW_APPROVE = "post.review.approve"
    AI_REVIEW_SAVE = "post.ai-review.save"
    AI_REVIEW_APPROVE = "post.ai-review.approve"
    CREATE_TRANSLATION = "post.create-translation"
    FORM_SUBMIT = "form.submit"


MANUAL_SCOPES = frozenset({Scope.DROPDOWN, Scope.GLOBAL, Scope.FIELD, Scope.BULK})
EVENT_SCOPES = tuple(scope for scope in Scope if scope not in MANUAL_SCOPES)
"""Scopes triggered by the event of the same name."""


class ScopeEntry(DefinitionPart):
    """One scope of an agent. The lists limit it further; an empty list does not.

    `allowed_fields`: the fields that the agent may propose; None allows all that agents may stage.
    """

    scope: Scope
    order: int = 0
    enabled: bool = True
    field_types: tuple[str, ...] = ()
    field_keys: tuple[str, ...] = ()
    form_slugs: tuple[str, ...] = ()
    allowed_fields: tuple[str, ...] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _lists_fit_the_scope(self) -> ScopeEntry:
        if self.scope != Scope.FIELD and (self.field_types or self.field_keys):
            raise ValueError("fieldTypes and fieldKeys are only for the scope field")
        if self.scope != Scope.FORM_SUBMIT and self.form_slugs:
            raise ValueError("formSlugs are only for the scope form.submit")
        return self

    def serves(
        self, *, field_type: str | None, field_key: str | None, form_slug: str | None
    ) -> bool:
        """Return True if the lists include this field or form. None skips that list."""
        if field_key is not None and not self.allows(field_of_key(field_key)):
            return False
        return all(
            not allowed or asked is None or asked in allowed
            for allowed, asked in (
                (self.field_types, field_type),
                (self.field_keys, field_key),
                (self.form_slugs, form_slug),
            )
        )

    def allows(self, field: str) -> bool:
        """Return True if a field (`post.title`, `module.hero.title`) may be proposed."""
        if self.allowed_fields is None:
            return True
        return any(covers(path, field) for path in self.allowed_fields)


class UserAccount(DefinitionPart):
    """The account that the agent acts under. Without this section the defaults apply."""

    enabled: bool = True
    email: str | None = Field(default=None, pattern=r"^[^@\s]+@[^@\s]+$")
    username: str | None = Field(default=None, pattern=r"^[\w.@+:-]+$", max_length=150)
    create_at_boot: bool = True


class OpenEndedContext(DefinitionPart):
    """The instructions that a user may add to a run: permission, labels and maximum length."""

    enabled: bool = False
    label: str | None = None
    placeholder: str | None = None
    max_chars: int | None = Field(default=None, ge=1)


class AgentDefinition(FileDefinition):
    name: str = Field(min_length=1, max_length=120)
    description: str = ""
    enabled: bool = True
    llm_config: LlmConfig
    scopes: tuple[ScopeEntry, ...]
    reactions: tuple[Reaction, ...] = ()
    user_account: UserAccount = UserAccount()
    open_ended_context: OpenEndedContext = OpenEndedContext()

    @field_validator("scopes")
    @classmethod
    def _each_scope_once(
        cls, scopes: tuple[ScopeEntry, ...], info: ValidationInfo
    ) -> tuple[ScopeEntry, ...]:
        # Checked here instead of with `min_length`, so that an invalid entry is reported alone.
        if not scopes:
            raise ValueError("it has no scope, so the agent would never run")
        names = [entry.scope for entry in scopes]
        for name in names:
            # Entries for fields differ by their lists. Two entries of another scope would have an
            # ambiguous order.
            if names.count(name) > 1 and name != Scope.FIELD:
                raise ValueError(f"the scope {name} is listed twice")
        return scopes

    def entries(self, scope: str) -> list[ScopeEntry]:
        """Return the enabled entries of a scope."""
        return [entry for entry in self.scopes if entry.scope == scope and entry.enabled]
