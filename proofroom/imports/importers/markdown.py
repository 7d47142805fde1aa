from __future__ import annotations

import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.post_fields import POST_FIELDS
from content.posts.front_matter import split_front_matter
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import slug_of
from proofroom.definitions import allowed_modules, find_post_type
from proofroom.definitions.richtext.nodes import attributes, children, kind, to_text
from proofroom.imports.content_importer import ContentImporter
from proofroom.imports.content_source import ImportOptions, Reader
from proofroom.imports.html_reader import Frame
from proofroom.imports.items import Item, PostItem, Remark, TermItem
from proofroom.imports.markdown_content import read_markdown
from proofroom.imports.media_files import MediaFiles, file_inside, walk_files
from proofroom.imports.module_builder import ModuleBuilder

LARGEST_FILE: Final = 2 * 1024 * 1024
MOST_FILES: Final = 50_000
_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx"})
_FOLDER_PAGES: Final = ("index", "_index", "readme")
_PAGE_SUFFIX: Final = re.compile(r"\.(md|markdown|mdx|html?|rst)$", re.IGNORECASE)
_FILE_SUFFIX: Final = re.compile(r"\.(pdf|png|jpe?g|gif|webp|avif)$", re.IGNORECASE)
_NUMBER: Final = re.compile(r"^\d{1,3}[a-z]?[-_. ]+(?=.)")
_DATE: Final = re.compile(r"^\d{4}-\d{2}-\d{2}-(?=.)")
_FILE_FOLDERS: Final = ("static", "public", "assets", "images", "img", "_static", "docs")
_ORDERS: Final = ("order", "orderIndex", "weight", "sidebar_position", "nav_order")
_IMAGES: Final = ("image", "cover", "featured_image", "featuredImage", "thumbnail", "hero_image")
_TERMS: Final[Mapping[str, str]] = {
    "tags": "tags", "keywords": "tags", "tag": "tags",
    "categories": "topics", "category": "topics", "topics": "topics",
}  # fmt: skip
_OLD_PATHS: Final = ("aliases", "redirect_from", "permalink", "url")
_LOCALES: Final = ("locale", "lang", "language")
_FIELDS: Final[Mapping[str, str]] = {
    "description": "metaDescription",
    **{
        name: name
        for name, declared in POST_FIELDS.items()
        if declared.is_text and declared.translatable and name != "title"
    },
}
"""The field that each name of the front matter fills."""
_USED: Final = frozenset(
    {"title", "slug", *_FIELDS, *_ORDERS, *_IMAGES, *_TERMS, *_OLD_PATHS, *_LOCALES}
)


class MarkdownImporter(ContentImporter):
    name = "markdown"
    label = gettext_lazy("Markdown")
    description = gettext_lazy("A folder of Markdown files with front matter.")
    takes = "folder"
    suffixes = (".zip",)

    def open(self, path: Path, options: ImportOptions) -> Reader:
        return MarkdownReader(path.resolve(), options)


@dataclass(frozen=True, slots=True)
class _Page:
    """A file, or a folder without a file of its own, by its path below the root."""

    source_id: str
    file: Path | None
    name: str
    parent_id: str | None


class MarkdownReader(Reader):
    """A folder of Markdown. In a hierarchical type, sub-folders stand below the page of their name."""

    def __init__(self, root: Path, options: ImportOptions) -> None:
        self.root, self.options = root, options
        name = options.name or str(root)
        self.scope = f"{name}#{options.type}#{options.site_locale}"[-300:]
        media = (Path(options.media).resolve(),) if options.media else ()
        self.files = MediaFiles((root, *media), options.fetch)
        self.type = find_post_type(options.type)
        self.allowed = frozenset(module.name for module in allowed_modules(options.type))
        self.pages = {page.source_id: page for page in self._find_pages()}
        self.by_key = {_page_key(page.source_id): page.source_id for page in self.pages.values()}
        loose: Counter[str] = Counter(_loose_key(key) for key in self.by_key)
        self.by_loose = {_loose_key(key): key for key in self.by_key if loose[_loose_key(key)] == 1}
        names: Counter[str] = Counter(_name_of(key) for key in self.by_key)
        self.by_name = {_name_of(key): key for key in self.by_key if names[_name_of(key)] == 1}

    def _find_pages(self) -> Iterator[_Page]:
        """Every page, parents first."""
        folders: dict[str, list[Path]] = {}
        for path in walk_files(self.root, MOST_FILES):
            if path.suffix.lower() in _SUFFIXES:
                above_file = path.parent
                while above_file != self.root:
                    folders.setdefault(self._id_of(above_file), [])
                    above_file = above_file.parent
                folders.setdefault(self._id_of(path.parent), []).append(path)
        owners: dict[str, str | None] = {".": None}
        for folder in sorted(
            folders, key=lambda name: (name.count("/"), name) if name != "." else (-1, "")
        ):
            parent_folder = posixpath.dirname(folder) or "."
            own: Path | None = None
            if folder != ".":
                above = owners.get(parent_folder)
                stem = posixpath.basename(folder)
                beside = next(
                    (path for path in folders.get(parent_folder, ()) if path.stem == stem), None
                )
                own = next(
                    (path for path in folders[folder] if path.stem.lower() in _FOLDER_PAGES), None
                )
                if not self.type.hierarchical:
                    owners[folder] = None
                    own = None
                elif beside is not None:
                    owners[folder] = self._id_of(beside)
                    own = None
                elif own is not None:
                    owners[folder] = self._id_of(own)
                    yield _Page(self._id_of(own), own, stem, above)
                else:
                    owners[folder] = f"{folder}/"
                    yield _Page(f"{folder}/", None, stem, above)
            for path in folders[folder]:
                if path == own:
                    continue
                name = _DATE.sub("", path.stem)
                is_index = folder != "." and path.stem.lower() in _FOLDER_PAGES
                if is_index:
                    name = posixpath.basename(folder)
                yield _Page(self._id_of(path), path, name, owners[folder])

    def _id_of(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        seen: set[tuple[str, str]] = set()
        unused: Counter[str] = Counter()
        uses = {use.slug for use in self.type.taxonomies}
        for page in self.pages.values():
            if page.file is None:
                title = page.name.replace("-", " ").replace("_", " ").strip().capitalize()
                yield self._item(page, title or _("Folder"), slug_of(page.name))
                continue
            try:
                head, text, remark = read_file(page.file)
            except (ValueError, OSError) as error:
                if not wanted:
                    yield Remark(page.source_id, str(error), "error")
                continue
            unused.update(name for name in head if name not in _USED)
            terms: list[tuple[str, str]] = []
            for name, taxonomy in _TERMS.items():
                if taxonomy not in uses:
                    continue
                for word in _words(head.get(name)):
                    terms.append((taxonomy, word))
                    if (taxonomy, word) not in seen:
                        seen.add((taxonomy, word))
                        yield TermItem(word, taxonomy, word)
            is_wanted = page.source_id in wanted
            yield self._page_item(page, head, text, remark, tuple(terms), is_wanted)
        if unused and not wanted:
            listed = ", ".join(f"{name} ({number})" for name, number in unused.most_common(30))
            yield Remark(_("Front matter"), _("Not used: %(names)s.") % {"names": listed}, "info")

    def _page_item(
        self,
        page: _Page,
        head: Mapping[str, object],
        text: str,
        remark: str,
        terms: tuple[tuple[str, str], ...],
        is_wanted: bool,
    ) -> PostItem:
        blocks: list[JsonObject | Frame] = []
        remarks = [Remark(page.source_id, remark)] if remark else []
        content = read_markdown(text if is_wanted else _beginning(text, head))
        blocks = content.blocks
        title, blocks = _title_of(head, blocks, page.name)
        slug = _line(head.get("slug")).rstrip("/").rsplit("/", 1)[-1] or page.name
        fields: JsonObject = {}
        for key, name in _FIELDS.items():
            if value := _line(head.get(key)):
                fields[name] = value
        order = next((head[key] for key in _ORDERS if key in head), None)
        if isinstance(order, int) and not isinstance(order, bool):
            fields["orderIndex"] = max(-1_000_000, min(order, 1_000_000))
        old_paths = [
            old if old.startswith("/") else f"/{old}"
            for key in _OLD_PATHS
            for old in _words(head.get(key))
            if "://" not in old and ":" not in old
        ]
        modules: tuple[object, ...] = ()
        if is_wanted:
            builder = ModuleBuilder(self.allowed)
            builder.add_blocks(blocks)
            made = builder.finish()
            modules = made
            unknown = content.unknown + builder.unknown
            if unknown:
                listed = ", ".join(f"{name} ({number})" for name, number in sorted(unknown.items()))
                message = _("Not understood, and left as text: %(names)s.") % {"names": listed}
                remarks.append(Remark(page.source_id, message))
        locale = next((_line(head.get(key)) for key in _LOCALES if _line(head.get(key))), "")
        if locale not in settings.CMS_ENV.locales:
            locale = self.options.site_locale
        return self._item(
            page,
            title,
            slug_of(slug),
            fields=fields,
            modules=modules,
            terms=terms,
            featured_image=_image_of(head),
            locale=locale,
            old_paths=tuple(old_paths),
            remarks=tuple(remarks),
        )

    def _item(self, page: _Page, title: str, slug: str, **values: object) -> PostItem:
        given = {"locale": self.options.site_locale, **values}
        return PostItem(
            source_id=page.source_id,
            place=page.source_id,
            type=self.options.type,
            title=title,
            slug=slug,
            parent_id=page.parent_id,
            base=page.source_id,
            addresses=(_page_key(page.source_id),),
            **given,  # type: ignore[arg-type]  # each is a field of the item
        )

    # Addresses.

    def _path_of(self, address: str) -> str | None:
        """The path of an address of the source; None for one of another site."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        if parts.scheme or parts.netloc:
            site = self.options.site.rstrip("/")
            if not site or not address.startswith(site):
                return None
            return "/" + unquote(urlsplit(address[len(site) :]).path).lstrip("/")
        return unquote(parts.path)

    def link_key(self, address: str, base: str) -> str:
        path = self._path_of(address)
        if not path:
            return ""
        candidates = self._candidates(path, base)
        found = next((key for key in candidates if key in self.by_key), None)
        if found is not None:
            return found
        # Sites leave out the numbers that order files, and what stands before their documents.
        flat = base.replace("--", "/")
        loose = [*candidates, *self._candidates(path, flat)]
        parts = _loose_key(_page_key(path)).split("/")
        tried = [
            *map(_loose_key, loose),
            *("/".join(parts[start:]) for start in range(1, len(parts))),
        ]
        found = next((self.by_loose[key] for key in tried if key in self.by_loose), None)
        return found or self.by_name.get(_name_of(_page_key(path)), candidates[0])

    def _candidates(self, path: str, base: str) -> list[str]:
        """The pages that a path may mean: below the folder of the file, and below its own address."""
        if path.startswith("/"):
            return [_page_key(path)]
        below_folder = _page_key(posixpath.join(posixpath.dirname(base), path))
        below_page = _page_key(posixpath.join(_PAGE_SUFFIX.sub("", base), path))
        return [below_folder, below_page, _page_key(path)]

    def is_own(self, address: str, base: str) -> bool:
        path = self._path_of(address)
        return bool(path) and not _FILE_SUFFIX.search(path or "")

    def file_key(self, address: str, base: str) -> str:
        path = self._path_of(address)
        if path is None:
            return address if self.options.fetch and address.startswith("http") else ""
        if not path:
            return ""
        joined = (
            path.lstrip("/")
            if path.startswith("/")
            else posixpath.join(posixpath.dirname(base), path)
        )
        beside = posixpath.join(_PAGE_SUFFIX.sub("", base), path)
        wanted = [_plain_path(joined), _plain_path(beside), _plain_path(path)]
        for name in wanted:
            for folder in ("", *_FILE_FOLDERS):
                candidate = posixpath.join(folder, name)
                if file_inside(self.root, candidate) is not None:
                    return candidate
        return wanted[0]

    def linked_file_key(self, address: str, base: str) -> str:
        path = self._path_of(address)
        if not path or not _FILE_SUFFIX.search(path):
            return ""
        key = self.file_key(address, base)
        return key if self.files.find(key) is not None else ""


def read_file(path: Path) -> tuple[Mapping[str, object], str, str]:
    """Front matter, text, and what there is to say of the file. Raises `ValueError` with a sentence, or `OSError`."""
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(
            _("The file is larger than %(most)s MB.") % {"most": LARGEST_FILE // 1024 // 1024}
        )
    content = path.read_bytes()
    remark = ""
    try:
        is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = content.decode("utf-16" if is_wide else "utf-8")
    except UnicodeDecodeError:
        if b"\x00" in content:
            raise ValueError(_("The file is not text.")) from None
        text = content.decode("cp1252", "replace")
        remark = _("The file is not UTF-8; it was read as Windows-1252.")
    if text.startswith("+++\n") or text.startswith("+++\r\n"):
        head, found, rest = text[3:].partition("\n+++")
        if found:
            try:
                return tomllib.loads(head.replace("\r\n", "\n")), rest.partition("\n")[2], remark
            except (tomllib.TOMLDecodeError, RecursionError) as error:
                text_of = _("The front matter is not valid TOML: %(why)s")
                raise ValueError(text_of % {"why": error}) from None
    head_of, body = split_front_matter(text)
    return head_of, body.replace("\x00", "\ufffd"), remark


def _beginning(text: str, head: Mapping[str, object]) -> str:
    """As much of a text as its title needs."""
    return "" if _line(head.get("title")) else text


def _title_of(
    head: Mapping[str, object], blocks: Sequence[JsonObject | Frame], name: str
) -> tuple[str, list[JsonObject | Frame]]:
    """The title, and the blocks without the heading that says it: the page shows its title itself."""
    heading = next(
        (one for one in blocks if not isinstance(one, Frame) and kind(one) == "heading"), None
    )
    words = ""
    if heading is not None:
        words = " ".join(to_text({"type": "doc", "content": [heading]}).split())
    plain = name.replace("-", " ").replace("_", " ").strip().capitalize()
    title = _line(head.get("title")) or words or plain or "Untitled"
    if heading is not None and heading is blocks[0]:
        has_image = any(kind(one) == "image" for one in children(heading))
        if attributes(heading).get("level") == 1 and words == title and not has_image:
            return title, list(blocks[1:])
    return title, list(blocks)


def _line(value: object) -> str:
    """A scalar of YAML as one line: a title that looks like a number or a date is still a title."""
    if value is None or isinstance(value, bool | dict | list):
        return ""
    return " ".join(str(value).split())


def _words(value: object) -> list[str]:
    """A list of words, or words apart by commas."""
    if isinstance(value, str):
        return [word for part in value.split(",") if (word := _line(part))]
    if isinstance(value, list):
        return [word for part in value[:200] if (word := _line(part))]
    return []


def _image_of(head: Mapping[str, object]) -> str:
    for key in _IMAGES:
        value = head.get(key)
        if isinstance(value, Mapping):
            value = value.get("src") or value.get("image") or value.get("url") or value.get("path")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _plain_path(path: str) -> str:
    """The path without dots; one that leads out of the folder has what is left of it inside."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _loose_key(key: str) -> str:
    """The key without the numbers that order files, and with folders that stand in the name of a file."""
    parts = key.replace("--", "/").split("/")
    return "/".join(_NUMBER.sub("", part).replace("_", "-") for part in parts)


def _name_of(key: str) -> str:
    return _loose_key(key).rsplit("/", 1)[-1]


def _page_key(path: str) -> str:
    """What all ways to write the address of a page have in common."""
    bare = _PAGE_SUFFIX.sub("", _plain_path(path))
    name = bare.rsplit("/", 1)[-1]
    if name.lower() in _FOLDER_PAGES:
        bare = bare[: -len(name)].rstrip("/") or name
    return bare.lower()
