"""The pages of posts as HTML, and the 404 page. Uses no request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from content.models import Post
from content.store.ai_disclosure import AiDisclosure
from proofroom.core.caching.cache_tags import add_cache_tags, global_tag, term_tag
from proofroom.core.caching.content_memo import memoize_by_content
from proofroom.core.caching.content_tags import depend_on, tag_of_post
from proofroom.core.site_urls import PageLocation, home_path
from proofroom.definitions.listings import term_list_path
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.links import MenuItems
from proofroom_apps.website import queries
from proofroom_apps.website.disclosure import line_of
from proofroom_apps.website.form_submission import SubmissionResult
from proofroom_apps.website.meta_tags import (
    PageFacts,
    byline_of,
    canonical_of,
    description_of,
    seo_of_post,
)
from proofroom_apps.website.navigation import alternates, breadcrumb
from proofroom_apps.website.page_frame import (
    build_page_context,
    feeds_of,
    load_surroundings,
    page_template,
    use_template_language,
)
from proofroom_apps.website.prefetch import (
    PageData,
    collect_prefetches,
    featured_image,
    image_of_post,
    load_page_data,
    needs_of,
)
from proofroom_apps.website.rendering import (
    RenderableModule,
    opens_with_heading,
    render_modules,
    shows_breadcrumb,
    stylesheets_of,
)

_FACTS: Final = ["cms/modules/facts.css"]
_TYPES_WITH_FACTS: Final = ("profile", "company", "testimonial")


@dataclass(frozen=True, slots=True)
class PreviewBar:
    """The line above a preview, in the language of its reader, which may not be that of the page."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a post's page: live, or from a layer with `preview` above it.

    If not `is_counted`, search engines do not index the page and visits are not counted.
    """

    post: Post
    modules: Sequence[RenderableModule]
    terms: Sequence[Term]
    preview: PreviewBar | None = None
    is_counted: bool = True
    menus: Mapping[str, MenuItems] = field(default_factory=dict)
    """Items that replace the stored ones of a menu in a preview, by slug."""
    disclosure: AiDisclosure | None = None
    """The share of AI work; previews have none, because what they show is not approved."""
    author_names: Sequence[str] = ()


def post_page(
    found: queries.FoundPost, submission: SubmissionResult | None = None, *, is_counted: bool = True
) -> str:
    """Return the page of a found post. As many queries as `load_page_data`."""
    post = found.post
    depend_on(tag_of_post(post.pk))
    add_cache_tags(
        *(term_tag(term.pk) for term in found.terms),
        *(global_tag(item.global_slug) for item in found.modules if item.global_slug),
    )
    data = load_page_data(post, needs_of(found), state=found.state, near=found.near)

    def make() -> str:
        content = PageContent(
            post,
            found.modules,
            found.terms,
            is_counted=is_counted,
            disclosure=found.disclosure,
            author_names=found.author_names,
        )
        return _page_of(content, data, submission)

    # Never cache a visitor's form values.
    if submission is not None or data.around.frame is None:
        return make()
    contents = {
        "content": found.content,
        "frame": data.around.frame.content,
        "is_counted": is_counted,
        **data.contents,
    }
    return memoize_by_content(page_template("site/post.html"), contents, make, text_of=str)


def page_of(content: PageContent, submission: SubmissionResult | None = None) -> str:
    """Return the page of a post with its surroundings. As many queries as `load_page_data`."""
    needs = collect_prefetches(content.post, content.modules)
    data = load_page_data(content.post, needs, menus=content.menus)
    return _page_of(content, data, submission)


def _page_of(content: PageContent, data: PageData, submission: SubmissionResult | None) -> str:
    post, items = content.post, content.modules
    place = PageLocation(post.path, post.locale)
    around = data.around
    is_uncounted = bool(content.preview) or not content.is_counted
    with use_template_language(post.locale):
        crumbs = breadcrumb(place, post.title, around.neighbours)
        paths = {
            other.locale: other.path
            for other in around.neighbours
            if other.group == post.translation_group and other.is_published
        }
        languages = alternates(place, {**paths, post.locale: post.path})
        html = render_modules(
            items,
            {
                **data.context(),
                "breadcrumb": crumbs,
                "page_title": post.title,
                "page_path": post.path,
                "locale": post.locale,
                "is_preview": bool(content.preview),
                "is_uncounted": is_uncounted,
                "submission": submission,
            },
        )
        shown = [] if shows_breadcrumb(items) else crumbs
        told = PageFacts(
            site_name=data.around.site_name,
            description=description_of(content.post, content.modules),
            canonical=canonical_of(content.post),
            image=image_of_post(content.post, content.modules, data.media),
            images=data.media,
            modules=content.modules,
            disclosure=content.disclosure,
            author_names=content.author_names,
        )
        seo = seo_of_post(content.post, told, crumbs=crumbs, alternates=languages)
        if content.preview or not content.is_counted:
            seo["robots"] = "noindex, nofollow"
        is_on_page = submission is not None and any(
            item.post_module_id == submission.at for item in items
        )
        context = build_page_context(around, shown, alternates=languages) | {
            "seo": seo,
            "feeds": feeds_of(around, post.type),
            "page_title": post.title,
            "post": post,
            "post_data": _data_of(post),
            "post_type": post.type,
            "lead": post.excerpt,
            "is_dated": post.type == "blog" and bool(post.published_at),
            "byline": byline_of(post, content.author_names),
            "has_facts": post.type in _TYPES_WITH_FACTS,
            "terms": [{"name": term.name, "url": term_path(post, term)} for term in content.terms],
            "media": data.media,
            "featured": featured_image(post),
            "content": html,
            "stylesheets": stylesheets_of(items) + (_FACTS if post.custom_fields else []),
            "has_heading": opens_with_heading(items),
            "preview": content.preview,
            "is_uncounted": is_uncounted,
            "submission": submission if is_on_page else None,
            "disclosure": line_of(content.disclosure),
        }
        return render_to_string("site/post.html", context)


def _data_of(post: Post) -> SafeString:
    """Return the attributes of the body that identify the post to scripts."""
    return mark_safe(  # noqa: S308  # an id, a number, and a name that is escaped
        f' data-post-id="{post.pk}" data-post-version="{post.version:d}"'
        f' data-post-type="{escape(post.type)}"'
    )


def missing_page(locale: str) -> str:
    """Return the 404 page. Two queries."""
    around = load_surroundings(PageLocation("", locale))
    homes = around.homes
    context = build_page_context(around, []) | {
        "feeds": feeds_of(around),
        # Empty without a home page: a link to another missing page helps nobody.
        "home_page_url": homes.get(locale) or homes.get(settings.CMS_ENV.default_locale, ""),
    }
    with use_template_language(locale):
        return render_to_string("site/404.html", context)


def welcome_page(locale: str, *, is_staff: bool) -> str:
    """Return the home page of a site without pages. For staff it leads to the first steps. Two queries."""
    around = load_surroundings(PageLocation(home_path(locale), locale))
    with use_template_language(locale):
        return render_to_string(
            "site/welcome.html",
            build_page_context(around, [])
            | {"feeds": feeds_of(around), "is_uncounted": True, "is_staff": is_staff},
        )


def term_path(post: Post, term: Term) -> str:
    """Return the path of the list of posts of this type with the term; empty if there is none."""
    return term_list_path(post.type, post.locale, term.taxonomy, term.slug, term.locale)
