"""The page of a document instead of the live rows: the same templates, the values of a layer."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy

from content.document import PostDocument
from content.models import ModuleInstance, Post, Term
from content.posts import post_repository
from content.variations.queries import as_original
from media.queries import media_exists
from proofroom.website.pages import PageContent, page_of
from proofroom.website.rendering import RenderableModule


def preview_page(
    post: Post, document: PostDocument, label: str, only: Collection[str] | None = None
) -> str:
    """The page that `document` would make, where the post stands now. Changes nothing, and stores nothing.

    `only` are the ids of the modules to show, where it is not all of them.
    """
    ids = {module.instance_id for module in document.modules if module.scope == "global"}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    shared = {str(pk): props for pk, props in rows} if ids else {}
    modules = [
        RenderableModule(
            post_module_id=module.id,
            type=module.type,
            props={**shared.get(module.instance_id, module.props), **module.overrides},
            index=index,
            instance_id=module.instance_id,
        )
        for index, module in enumerate(document.modules)
    ]
    shown = copy(post)
    for name, column in post_repository.COLUMNS.items():
        if name in document.fields and name not in ("slug", "parentId", "publishAt"):
            setattr(shown, column, post_repository.column_value(name, document.fields[name]))
    shown.custom_fields = document.custom_fields
    if shown.featured_media_id and not media_exists(str(shown.featured_media_id)):
        shown.featured_media = None  # staged, and deleted since
    if post.variation_of is not None:
        # It has no address; what is shown is how the original would look at its own.
        shown = as_original(shown, post.variation_of)
    content = PageContent(
        post=shown,
        modules=[one for one in modules if only is None or one.post_module_id in only],
        terms=list(Term.objects.filter(pk__in=document.taxonomy_term_ids)),
        preview=label,
    )
    return page_of(content)
