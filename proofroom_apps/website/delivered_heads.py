"""The metadata of a post's page for the delivery API, as the built-in site writes it into the page's head."""

from __future__ import annotations

from typing import cast

from django.utils.translation import to_locale

from content.api.delivery.page_heads import DeliveredPage, PageHeadAnswer
from content.store.linked_posts import Linked
from proofroom.core.site_urls import PageLocation
from proofroom_apps.website.meta_tags import (
    PageFacts,
    Seo,
    canonical_of,
    description_of,
    seo_of_post,
)
from proofroom_apps.website.navigation import alternates, breadcrumb
from proofroom_apps.website.page_frame import PageChrome, use_template_language
from proofroom_apps.website.prefetch import image_of_post
from proofroom_apps.website.rendering import RenderableModule


def delivered_head(page: DeliveredPage) -> PageHeadAnswer:
    """Return the metadata of a post's page. No query."""
    post = page.post
    place = PageLocation(post.path, post.locale)
    modules = [
        RenderableModule(module.id, module.type, module.props, index)
        for index, module in enumerate(page.modules)
    ]
    around = PageChrome(place, {}, Linked(), page.neighbours)
    # Titles of list pages and sentences about AI work are in the language of the page.
    with use_template_language(post.locale):
        paths = {
            other.locale: other.path
            for other in page.neighbours
            if other.group == post.translation_group
        }
        facts = PageFacts(
            site_name=around.site_name,
            description=description_of(post, modules),
            canonical=canonical_of(post),
            image=image_of_post(post, modules, page.images),
            images=page.images,
            modules=modules,
            disclosure=page.disclosure,
            author_names=page.author_names,
        )
        seo = seo_of_post(
            post,
            facts,
            crumbs=breadcrumb(place, post.title, page.neighbours),
            alternates=alternates(place, {**paths, post.locale: post.path}),
        )
    return present_head(seo, around.site_name, post.locale)


def present_head(seo: Seo, site_name: str, locale: str) -> PageHeadAnswer:
    """Return metadata with the names of the API."""
    head = {
        "title": seo["title"],
        "description": seo["description"],
        "canonical": seo["canonical"],
        "robots": seo["robots"],
        "alternates": seo["alternates"],
        "openGraph": {
            "type": seo["og_type"],
            "title": seo["title"],
            "description": seo["description"],
            "url": seo["canonical"],
            "siteName": site_name,
            "locale": to_locale(locale),
            "image": seo["image"],
            "publishedTime": seo["published"],
            "modifiedTime": seo["modified"],
        },
        "jsonLd": seo["json_ld"],
    }
    return cast(PageHeadAnswer, head)
