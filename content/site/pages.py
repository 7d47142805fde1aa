"""The pages of posts as HTML, and the page that is not there. Knows no request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils import translation

from content.models import Post, Term
from content.site import queries
from content.site.data import data_of
from content.site.links import (
    Alternate,
    Crumb,
    Place,
    alternates,
    breadcrumb,
)
from content.site.listings import featured_image, listings
from content.site.queries import Neighbour
from content.site.rendering import (
    RenderableModule,
    opens_with_heading,
    render_modules,
    shows_breadcrumb,
    stylesheets_of,
)
from content.site.seo import Seo, seo_of_post
from content.site.submission import Submission
from content.site.surroundings import Surroundings, context_of, surroundings_of


@dataclass(frozen=True, slots=True)
class PageContent:
    """What the page of a post shows: live, or as a layer has it. `preview` names the layer then."""

    post: Post
    modules: Sequence[RenderableModule]
    terms: Sequence[Term]
    preview: str = ""


def post_page(post: Post, submission: Submission | None = None) -> str:
    """The page of a post that `queries.find_post` found. At most five queries."""
    terms: Sequence[Term] = post.shown_terms  # type: ignore[attr-defined]  # set by find_post
    return page_of(PageContent(post, queries.modules_of(post), terms), submission)


def page_of(content: PageContent, submission: Submission | None = None) -> str:
    """The page of a post with its surroundings. At most three queries, and one for the forms."""
    post, items = content.post, content.modules
    place = Place(post.path, post.locale)
    data = data_of(post, items)
    around = data.around
    with translation.override(post.locale):
        crumbs = breadcrumb(place, post.title, around.neighbours, listings(post.locale))
        languages = alternates(place, _translations(post, around.neighbours))
        html = render_modules(
            items,
            {
                **data.context(),
                "breadcrumb": crumbs,
                "page_title": post.title,
                "page_path": post.path,
                "locale": post.locale,
                "is_preview": bool(content.preview),
                "submission": submission,
            },
        )
        shown = [] if shows_breadcrumb(items) else crumbs
        context = context_of(around, shown, alternates=languages) | {
            "seo": _seo(content, around, crumbs, languages),
            "page_title": post.title,
            "post": post,
            "terms": content.terms,
            "media": data.media,
            "featured": featured_image(post),
            "content": html,
            "stylesheets": stylesheets_of(items),
            "has_heading": opens_with_heading(items),
            "preview": {"label": content.preview} if content.preview else None,
        }
        return render_to_string("site/post.html", context)


def _seo(
    content: PageContent,
    around: Surroundings,
    crumbs: Sequence[Crumb],
    languages: Sequence[Alternate],
) -> Seo:
    featured = featured_image(content.post)
    seo = seo_of_post(
        content.post,
        site_name=around.site_name,
        crumbs=crumbs,
        alternates=languages,
        image=featured["url"] if featured else "",
    )
    if content.preview:
        seo["robots"] = "noindex, nofollow"
    return seo


def missing_page(locale: str) -> str:
    """What stands at an address without a page. Two queries."""
    around = surroundings_of(Place("", locale))
    with translation.override(locale):
        return render_to_string("site/404.html", context_of(around, []))


def _translations(post: Post, found: Sequence[Neighbour]) -> dict[str, str]:
    paths = {
        other.locale: other.path
        for other in found
        if other.group == post.translation_group and other.is_published
    }
    return {**paths, post.locale: post.path}
