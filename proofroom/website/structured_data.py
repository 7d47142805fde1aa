"""The structured data of a page, in terms of schema.org."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from content.menus.links import Crumb
from content.models import Post
from content.posts.post_repository import format_time
from media.presenters import SiteImage
from proofroom.core.json import Json, JsonObject
from proofroom.core.site_urls import absolute, home_of, search_path
from proofroom.definitions.richtext.links import safe_href
from proofroom.definitions.richtext.text import to_text
from proofroom.website.rendering import RenderableModule

_CONTEXT: Final = "https://schema.org"
Images = Mapping[str, SiteImage]


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The facts of a post's page beside the post. `images` are those of its fields, by id."""

    site_name: str
    description: str
    canonical: str
    image: SiteImage | None = None
    images: Images = field(default_factory=dict)
    modules: Sequence[RenderableModule] = ()


def build_structured_data(post: Post, told: PageFacts) -> list[JsonObject]:
    """The post, the questions it answers, and the site where it is the home page."""
    main = _given({"@context": _CONTEXT, **_main(post, told)})
    found = [{**main, **(post.jsonld_overrides or {})}]
    if post.path == home_of(post.locale):
        found.append(_site(post.locale, told.site_name))
    questions = list(_questions(told.modules))
    if questions:
        found.append({"@context": _CONTEXT, "@type": "FAQPage", "mainEntity": questions})
    return found


def breadcrumb_list(crumbs: Sequence[Crumb]) -> list[JsonObject]:
    """The way to a page; nothing where it has none above."""
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
    return [{"@context": _CONTEXT, "@type": "BreadcrumbList", "itemListElement": items}]


def _main(post: Post, told: PageFacts) -> JsonObject:
    common: JsonObject = {
        "name": post.title,
        "description": told.description or None,
        "url": told.canonical,
        "image": _image(told.image),
    }
    match post.type:
        case "blog":
            # The site stands for its authors: the names of accounts are nobody's business.
            site: JsonObject = {
                "@type": "Organization",
                "name": told.site_name,
                "url": absolute("/"),
            }
            return {
                "@type": "BlogPosting",
                "headline": post.title,
                **common,
                **{
                    **_dates(post),
                    "author": site,
                    "publisher": site,
                    "mainEntityOfPage": told.canonical,
                },
            }
        case "profile":
            facts = post.custom_fields
            return {
                "@type": "Person",
                **common,
                **{
                    "jobTitle": facts.get("role"),
                    "email": facts.get("email"),
                    "sameAs": _website(facts),
                },
            }
        case "company":
            return {"@type": "Organization", **common, **_organization(post, told)}
        case "testimonial":
            return {"@type": "Review", **common, **_review(post, told)}
    return {"@type": "WebPage", **common, **_dates(post)}


def _dates(post: Post) -> JsonObject:
    return {
        "inLanguage": post.locale,
        "datePublished": format_time(post.published_at),
        "dateModified": format_time(post.updated_at),
    }


def _organization(post: Post, told: PageFacts) -> JsonObject:
    facts = post.custom_fields
    logo = told.images.get(str(facts.get("logoId")))
    return {"logo": _image(logo), "sameAs": _website(facts), "knowsAbout": facts.get("industry")}


def _review(post: Post, told: PageFacts) -> JsonObject:
    facts = post.custom_fields
    rating = facts.get("rating")
    company = facts.get("company")
    author = {
        "@type": "Person",
        "name": facts.get("authorName"),
        "jobTitle": facts.get("authorRole"),
        "worksFor": {"@type": "Organization", "name": company} if company else None,
    }
    return {
        "reviewBody": facts.get("quote"),
        "author": _given(author) if author["name"] else None,
        "reviewRating": (
            {"@type": "Rating", "ratingValue": rating, "bestRating": 5} if rating else None
        ),
        "itemReviewed": {"@type": "Organization", "name": told.site_name, "url": absolute("/")},
        "inLanguage": post.locale,
        "datePublished": format_time(post.published_at),
    }


def _website(facts: Mapping[str, Json]) -> str | None:
    return safe_href(facts.get("website"))


def _image(image: SiteImage | None) -> JsonObject | None:
    if image is None:
        return None
    return _given(
        {
            "@type": "ImageObject",
            "url": absolute(image["url"]),
            "width": image["width"],
            "height": image["height"],
        }
    )


def _site(locale: str, name: str) -> JsonObject:
    target = {
        "@type": "EntryPoint",
        "urlTemplate": f"{absolute(search_path(locale))}?q={{search_term_string}}",
    }
    return {
        "@context": _CONTEXT,
        "@type": "WebSite",
        "name": name,
        "url": absolute(home_of(locale)),
        "inLanguage": locale,
        "potentialAction": {
            "@type": "SearchAction",
            "target": target,
            "query-input": "required name=search_term_string",
        },
    }


def _questions(items: Iterable[RenderableModule]) -> Iterator[Json]:
    for item in items:
        listed = item.props.get("items") if item.type == "faq" else None
        for entry in listed if isinstance(listed, list) else ():
            if not isinstance(entry, dict):
                continue
            question, answer = str(entry.get("question") or ""), to_text(entry.get("answer"))
            if question and answer:
                accepted: JsonObject = {"@type": "Answer", "text": answer}
                yield {"@type": "Question", "name": question, "acceptedAnswer": accepted}


def _given(values: Mapping[str, Json]) -> JsonObject:
    return {name: value for name, value in values.items() if value not in (None, "")}
