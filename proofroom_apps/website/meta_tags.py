"""Metadata of pages for search engines and other sites: meta tags and structured data (schema.org)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypedDict

import orjson
from django.conf import settings

from content.models import Post
from content.store.ai_disclosure import AiDisclosure
from media.presenters import SiteImage
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.site_urls import absolute, home_path, markdown_path, search_path
from proofroom.definitions import custom_text_of, text_of
from proofroom.definitions.richtext.links import safe_href
from proofroom.definitions.richtext.nodes import to_text
from proofroom_apps.website.disclosure import structured_disclosure
from proofroom_apps.website.navigation import Alternate, Crumb
from proofroom_apps.website.rendering import RenderableModule

_LONGEST: Final = 160


def description_of(post: Post, items: Sequence[RenderableModule]) -> str:
    """Return the authors' description, else the first words of the page, else the title."""
    written = one_line(post.meta_description or "") or one_line(post.excerpt)
    if written:
        return written
    texts = [custom_text_of(post.type, post.custom_fields)]
    size = 0
    for item in items:
        texts.append(text_of(item.type, item.props))
        size += len(texts[-1])
        if size > _LONGEST * 4:
            break
    return first_words(" ".join(texts)) or post.title


def one_line(text: str) -> str:
    return " ".join(text.split())


def first_words(text: str, longest: int = _LONGEST) -> str:
    """Return the beginning of a text in one line, cut between two words if it is too long."""
    # More than enough for one line; the rest of a long text is not read.
    line = one_line(text[: longest * 4])
    if len(line) <= longest:
        return line
    cut = line[:longest].rpartition(" ")[0] or line[: longest - 1]
    return f"{cut.rstrip(' ,;:–-')}…"


class SeoAlternate(TypedDict):
    locale: str
    url: str


class SeoImage(TypedDict):
    url: str
    alt: str
    width: int | None
    height: int | None


class Seo(TypedDict):
    """The names that `templates/site/head.html` reads. `markdown` is the address of the page as Markdown."""

    title: str
    description: str
    robots: str
    canonical: str
    alternates: list[SeoAlternate]
    markdown: str
    og_type: str
    published: str | None
    modified: str | None
    image: SeoImage | None
    json_ld: list[JsonObject]


def seo_of_post(
    post: Post, told: PageFacts, *, crumbs: Sequence[Crumb], alternates: Sequence[Alternate]
) -> Seo:
    """Return the metadata of a post."""
    is_article = post.type == "blog"
    image = told.image
    return Seo(
        title=post.meta_title or title_with_site(post.title, told.site_name),
        description=told.description,
        robots=robots_of(post.robots_json),
        canonical=told.canonical,
        # A page with another canonical address must not have hreflang links.
        alternates=seo_alternates(alternates) if is_original(post) else [],
        markdown=markdown_path(post.path),
        og_type="article" if is_article else "profile" if post.type == "profile" else "website",
        published=format_time(post.published_at) if is_article else None,
        modified=format_time(post.updated_at) if is_article else None,
        image=None
        if image is None
        else SeoImage(
            url=absolute(image["url"]),
            alt=image["alt"],
            width=image["width"],
            height=image["height"],
        ),
        json_ld=[*build_structured_data(post, told), *breadcrumb_list(crumbs)],
    )


def canonical_of(post: Post) -> str:
    """Return the canonical address of the post, which may be on another site."""
    return post.canonical_url or absolute(post.path)


def is_original(post: Post) -> bool:
    """Return whether the post's canonical address is its own address."""
    return canonical_of(post) == absolute(post.path)


def list_seo(
    title: str,
    path: str,
    *,
    description: str,
    crumbs: Sequence[Crumb],
    alternates: Sequence[Alternate],
    number: int = 1,
) -> Seo:
    """Return the metadata of a list of posts. Every page of a list is its own canonical address."""
    return Seo(
        title=title,
        description=description,
        robots="",
        canonical=absolute(path) + (f"?page={number}" if number > 1 else ""),
        alternates=seo_alternates(alternates) if number == 1 else [],
        markdown=markdown_path(path) if number == 1 else "",
        og_type="website",
        published=None,
        modified=None,
        image=None,
        json_ld=breadcrumb_list(crumbs),
    )


def seo_of_search(title: str) -> Seo:
    """Return the metadata of a page that search engines must not index."""
    return Seo(
        title=title,
        description="",
        robots="noindex",
        canonical="",
        alternates=[],
        markdown="",
        og_type="website",
        published=None,
        modified=None,
        image=None,
        json_ld=[],
    )


def title_with_site(title: str, site_name: str) -> str:
    return f"{title} · {site_name}" if site_name and site_name != title else title


def robots_of(robots: Mapping[str, Json] | None) -> str:
    """Return `{"index": false, "follow": false}` as the content of the meta element; empty allows both."""
    robots = robots or {}
    words = ["noindex"] if robots.get("index") is False else []
    return ", ".join(words + (["nofollow"] if robots.get("follow") is False else []))


def seo_alternates(found: Sequence[Alternate]) -> list[SeoAlternate]:
    """Return the hreflang links: each language with a full address, and the default one as `x-default`."""
    if len(found) < 2:
        return []
    links = [SeoAlternate(locale=item["locale"], url=absolute(item["url"])) for item in found]
    default = next(
        (link for link in links if link["locale"] == settings.CMS_ENV.default_locale), links[0]
    )
    return [*links, SeoAlternate(locale="x-default", url=default["url"])]


_CONTEXT: Final = "https://schema.org"
Images = Mapping[str, SiteImage]


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a post's page. `images`: the images of its fields, by id."""

    site_name: str
    description: str
    canonical: str
    image: SiteImage | None = None
    images: Images = field(default_factory=dict)
    modules: Sequence[RenderableModule] = ()
    disclosure: AiDisclosure | None = None
    author_names: Sequence[str] = ()


def byline_of(post: Post, author_names: Sequence[str]) -> str:
    """Return who wrote a post, for readers: its byline, else the names of its authors."""
    return post.byline or ", ".join(author_names)


def build_structured_data(post: Post, told: PageFacts) -> list[JsonObject]:
    """Return the structured data of the post, the questions it answers, and the site if it is the home page."""
    main = _given({"@context": _CONTEXT, **_main(post, told)})
    disclosed = structured_disclosure(told.disclosure)
    # A person or a company is no work, so its page is described beside it.
    is_work = main["@type"] not in ("Person", "Organization")
    if disclosed and is_work:
        main |= disclosed
    found = [{**main, **(post.jsonld_overrides or {})}]
    if disclosed and not is_work:
        found.append({"@context": _CONTEXT, "@type": "WebPage", "url": told.canonical, **disclosed})
    if post.path == home_path(post.locale):
        found.append(_site(post.locale, told.site_name))
    questions = list(_questions(told.modules))
    if questions:
        found.append({"@context": _CONTEXT, "@type": "FAQPage", "mainEntity": questions})
    return found


def breadcrumb_list(crumbs: Sequence[Crumb]) -> list[JsonObject]:
    """Return the breadcrumb as structured data; empty if no page is above."""
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
            # Without a name for readers, the site is the author: names of accounts are private.
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
                    "author": _authors(post, told) or site,
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
                    "sameAs": safe_href(facts.get("website")),
                },
            }
        case "company":
            facts = post.custom_fields
            return {
                "@type": "Organization",
                **common,
                "logo": _image(told.images.get(str(facts.get("logoId")))),
                "sameAs": safe_href(facts.get("website")),
                "knowsAbout": facts.get("industry"),
            }
        case "testimonial":
            return {"@type": "Review", **common, **_review(post, told)}
    return {"@type": "WebPage", **common, **_dates(post)}


def _authors(post: Post, told: PageFacts) -> Json:
    names = [post.byline] if post.byline else [*told.author_names]
    people: list[Json] = [{"@type": "Person", "name": name} for name in names]
    return people[0] if len(people) == 1 else people


def _dates(post: Post) -> JsonObject:
    return {
        "inLanguage": post.locale,
        "datePublished": format_time(post.published_at),
        "dateModified": format_time(post.updated_at),
    }


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
        "url": absolute(home_path(locale)),
        "inLanguage": locale,
        "potentialAction": {
            "@type": "SearchAction",
            "target": target,
            "query-input": "required name=search_term_string",
        },
    }


def _questions(items: Iterable[RenderableModule]) -> Iterator[Json]:
    for item in items:
        if item.type != "faq":
            continue
        entries = item.props.get("items")
        try:
            # Lists cannot be keys of the cache, so the key is their JSON.
            asked = _kept_asked(orjson.dumps(entries))
        except TypeError:  # not storable in a column either, such as integers of more than 64 bits
            asked = _find_questions(entries)
        for question, answer in asked:
            accepted: JsonObject = {"@type": "Answer", "text": answer}
            yield {"@type": "Question", "name": question, "acceptedAnswer": accepted}


@lru_cache(maxsize=500)
def _kept_asked(stored: bytes) -> Sequence[tuple[str, str]]:
    return _find_questions(orjson.loads(stored))


def _find_questions(entries: Json) -> Sequence[tuple[str, str]]:
    """Return the questions with an answer among a module's items, with the answers as plain text."""
    found = [
        (str(entry.get("question") or ""), to_text(entry.get("answer")))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    ]
    return [(question, answer) for question, answer in found if question and answer]


def _given(values: Mapping[str, Json]) -> JsonObject:
    return {name: value for name, value in values.items() if value not in (None, "")}
