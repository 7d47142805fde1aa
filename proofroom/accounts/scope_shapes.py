"""Schemas of the content that a role, a token or an agent is limited to, for the API."""

from __future__ import annotations

from typing import Annotated, TypeVar
from uuid import UUID

from pydantic import BeforeValidator, Field

from proofroom.accounts.services.content_scopes import MAX_IN_PART
from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body, Id, Words
from proofroom.core.content_scope import ContentScope

T = TypeVar("T")
_Sorted = Annotated[list[T], BeforeValidator(sorted)]
_Names = Annotated[list[Annotated[Words, Field(max_length=60)]], Field(max_length=MAX_IN_PART)]
_Ids = Annotated[list[Id], Field(max_length=MAX_IN_PART)]


class ScopeAnswer(Answer):
    """The content that rights are limited to; an empty list limits nothing."""

    types: _Sorted[str] = Field(description="Post types.")
    locales: _Sorted[str]
    sections: _Sorted[UUID] = Field(
        description="Posts: each with all below its address, in every language."
    )
    terms: _Sorted[UUID] = Field(description="Terms, of which a post carries one.")
    reads_all: bool = Field(description="What is outside can be read, and not changed.")


class ScopeFields(Body, answered_by=ScopeAnswer):
    types: _Names = []
    locales: _Names = []
    sections: _Ids = []
    terms: _Ids = []
    reads_all: bool = False

    def read(self) -> ContentScope:
        return ContentScope(
            types=frozenset(self.types),
            locales=frozenset(self.locales),
            sections=frozenset(self.sections),
            terms=frozenset(self.terms),
            reads_all=self.reads_all,
        )
