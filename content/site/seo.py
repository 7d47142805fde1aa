"""What search engines and other sites are told of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from django.conf import settings

from content.models import Post
from content.site.addresses import absolute
from content.site.links import Alternate, Crumb
from content.store import iso
from core.json import Json, JsonObject


class SeoAlternate(TypedDict):
    locale: str
    url: str


class Seo(TypedDict):
    """The names that `templates/site/head.html` reads."""

    title: str
    description: str
    robots: str
    canonical: str
    alternates: list[SeoAlternate]
    og_type: str
    image: str
    json_ld: list[JsonObject]


def seo_of_post(
    post: Post,
    *,
    site_name: str,
    crumbs: Sequence[Crumb],
    alternates: Sequence[Alternate],
    image: str,
) -> Seo:
    """Of a post. `image` is a path of the site, or empty."""
    title = post.meta_title or _with_site(post.title, site_name)
    description = post.meta_description or post.excerpt
    canonical = post.canonical_url or absolute(post.path)
    return Seo(
        title=title,
        description=description,
        robots=robots_of(post.robots_json),
        canonical=canonical,
        # A page that names another as the original must not offer itself in other languages.
        alternates=[] if post.canonical_url else seo_alternates(alternates),
        og_type="article" if post.type == "blog" else "website",
        image=absolute(image) if image else "",
        json_ld=[_thing(post, description, canonical, image), *_trail(crumbs)],
    )


def seo_of_list(
    title: str,
    path: str,
    *,
    site_name: str,
    crumbs: Sequence[Crumb],
    alternates: Sequence[Alternate],
    number: int = 1,
) -> Seo:
    """Of a list of posts; every page of it stands for itself."""
    return Seo(
        title=_with_site(title if number == 1 else f"{title} ({number})", site_name),
        description="",
        robots="",
        canonical=absolute(path) + (f"?page={number}" if number > 1 else ""),
        alternates=seo_alternates(alternates) if number == 1 else [],
        og_type="website",
        image="",
        json_ld=_trail(crumbs),
    )


def _with_site(title: str, site_name: str) -> str:
    return f"{title} · {site_name}" if site_name and site_name != title else title


def robots_of(robots: Mapping[str, Json] | None) -> str:
    """`{"index": false, "follow": false}` as the content of the meta element; empty allows both."""
    robots = robots or {}
    words = ["noindex"] if robots.get("index") is False else []
    return ", ".join(words + (["nofollow"] if robots.get("follow") is False else []))


def seo_alternates(found: Sequence[Alternate]) -> list[SeoAlternate]:
    """For hreflang: each language with a full address, and the default one for everybody else."""
    if len(found) < 2:
        return []
    links = [SeoAlternate(locale=item["locale"], url=absolute(item["url"])) for item in found]
    default = next(
        (link for link in links if link["locale"] == settings.CMS_ENV.default_locale), links[0]
    )
    return [*links, SeoAlternate(locale="x-default", url=default["url"])]


def _thing(post: Post, description: str, canonical: str, image: str) -> JsonObject:
    is_article = post.type == "blog"
    thing: JsonObject = {
        "@context": "https://schema.org",
        "@type": "BlogPosting" if is_article else "WebPage",
        "headline" if is_article else "name": post.title,
        "description": description or None,
        "inLanguage": post.locale,
        "url": canonical,
        "image": absolute(image) if image else None,
        "datePublished": iso(post.published_at),
        "dateModified": iso(post.updated_at),
    }
    thing |= post.jsonld_overrides or {}
    return {name: value for name, value in thing.items() if value is not None}


def _trail(crumbs: Sequence[Crumb]) -> list[JsonObject]:
    if len(crumbs) < 2:
        return []
    items: list[Json] = [
        {
            "@type": "ListItem",
            "position": place,
            "name": crumb["label"],
            "item": absolute(crumb["url"]),
        }
        for place, crumb in enumerate(crumbs, 1)
    ]
    return [{"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": items}]
