"""Results of the tools of translations. Optional keys are left out, never null."""

from __future__ import annotations

from content.tools.results import Authored, StagedResult
from proofroom.core.tools import Result
from proofroom.core.tools.pagination import ToolPage


class ListedTranslation(Result):
    id: str
    locale: str
    slug: str
    title: str
    status: str
    stale_paths: list[str]
    layers: list[str] | None = None
    url: str | None = None
    translated_from: str | None = None
    new_modules: list[dict[str, str]] | None = None
    removed_modules: list[dict[str, str]] | None = None


class TranslationPage(ToolPage):
    items: list[ListedTranslation]


class TranslationModule(Result):
    source_post_module_id: str
    post_module_id: str
    translatable: list[str]


class CreatedTranslation(StagedResult):
    translation_id: str
    locale: str
    slug: str
    modules: list[TranslationModule]


class ProposedTranslation(Result):
    """`existed`: it was there already, a proposal made from this post."""

    locale: str
    ok: bool
    translation_id: str | None = None
    existed: bool | None = None
    error: str | None = None


class ProposedTranslations(Authored):
    items: list[ProposedTranslation]
    total: int
