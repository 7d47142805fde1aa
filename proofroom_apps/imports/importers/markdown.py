"""Imports a folder or archive of Markdown files with front matter."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.json import JsonObject
from proofroom.core.slugs import slug_of
from proofroom.definitions import allowed_modules, find_post_type
from proofroom.definitions.richtext.nodes import attributes, children, kind, to_text
from proofroom_apps.imports.authors import read_authors
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader, locale_of, unknown_locale
from proofroom_apps.imports.front_matter import (
    AUTHORS,
    FIELDS,
    LOCALES,
    ORDERS,
    TERMS,
    USED_NAMES,
    front_matter_remarks,
    image_of,
    line_of,
    read_data,
    read_file,
    read_front_matter_dates,
    read_old_paths,
    words_of,
)
from proofroom_apps.imports.html_reader import EmbeddedFrame
from proofroom_apps.imports.items import Item, PostItem, Remark, TermItem
from proofroom_apps.imports.markdown_content import read_markdown
from proofroom_apps.imports.markdown_dialects import MarkdownSource
from proofroom_apps.imports.media_files import MediaFiles, file_inside, walk_files
from proofroom_apps.imports.module_builder import ModuleBuilder

MOST_FILES: Final = 50_000
_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx"})
_FOLDER_PAGES: Final = ("index", "_index", "readme")
_PAGE_SUFFIX: Final = re.compile(r"\.(md|markdown|mdx|html?|rst)$", re.IGNORECASE)
_FILE_SUFFIX: Final = re.compile(r"\.(pdf|png|jpe?g|gif|webp|avif)$", re.IGNORECASE)
_NUMBER: Final = re.compile(r"^\d{1,3}[a-z]?[-_. ]+(?=.)")
_DATE: Final = re.compile(r"^\d{4}-\d{2}-\d{2}-(?=.)")
_LOCALE: Final = re.compile(r"^[a-z]{2}(?:[-_][a-z]{2,4})?$", re.IGNORECASE)
_DOCUMENTS: Final = frozenset(
    {
        ".rst",
        ".adoc",
        ".asciidoc",
        ".txt",
        ".ipynb",
        ".html",
        ".htm",
        ".org",
        ".docx",
        ".tex",
        ".mdoc",
    }
)
"""Suffixes of files that may be pages but are not read."""
_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif"})
_FIRST_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(.{1,1000})", re.MULTILINE)
_LABELS: Final = re.compile(
    r"^[ \t]*\(([A-Za-z][^()\s]{0,200})\)=[ \t]*$|^[ \t]*:(?:name|label):[ \t]*(\S+)[ \t]*$",
    re.MULTILINE,
)
_IMPORT: Final = re.compile(r"\A\s*import\s+[\w{*][^\n]*\sfrom\s+[\"']", re.MULTILINE)
_FILE_FOLDERS: Final = ("static", "public", "assets", "images", "img", "_static", "docs")
_AUTHOR_FILES: Final = ("authors.yml", "authors.yaml", ".authors.yml", "_data/authors.yml")
"""Files in which Docusaurus, Material for MkDocs and Jekyll describe authors, by the keys used in pages."""
_CATEGORY_FILES: Final = ("_category_.json", "_category_.yml", "_category_.yaml")
"""Files in which Docusaurus describes a folder."""
_WRAPPERS: Final = frozenset({"src", "content", "docs", "website", "site", "pages", "collections"})
"""Folders that contain all pages of a site and are not pages themselves."""
_ADDRESSES: Final = ("id", "slug")
"""Front matter names from which Docusaurus makes addresses."""


class MarkdownImporter(ContentImporter):
    name = "markdown"
    label = gettext_lazy("Markdown")
    description = gettext_lazy("A folder of Markdown files with front matter.")
    takes = "folder"
    suffixes = (".zip",)

    def open(self, path: Path, options: ImportOptions) -> Reader:
        return MarkdownReader(path.resolve(), options)


@dataclass(frozen=True, slots=True)
class _SourcePage:
    """A file, or a folder without an index file, by its path below the root."""

    source_id: str
    file: Path | None
    name: str
    parent_id: str | None
    locale: str = ""
    date: str = ""
    """Date at the start of the file name, as in Jekyll."""


class MarkdownReader(Reader):
    """A reader of a Markdown folder. In a hierarchical type, a subfolder's pages are below the page of its name."""

    def __init__(self, root: Path, options: ImportOptions) -> None:
        self.root, self.options = root, options
        name = options.name or str(root)
        # The database column of `scope` has 300 characters.
        self.scope = f"{name}#{options.type}#{options.site_locale}"[-300:]
        media = (Path(options.media).resolve(),) if options.media else ()
        self.files = MediaFiles((root, *media), options.fetch)
        self.type = find_post_type(options.type)
        self.allowed = frozenset(module.name for module in allowed_modules(options.type))
        self.other_files: Counter[str] = Counter()
        self.categories: dict[str, Mapping[str, object]] = {}
        self.authors: dict[str, Mapping[str, object]] = {}
        """Authors described in a folder, by key."""
        self.pictures: dict[str, str] = {}
        """Pictures of the folder by name, for programs that write no folder."""
        self.pages = {page.source_id: page for page in self._find_pages()}
        self.by_key = {_page_key(page.source_id): page.source_id for page in self.pages.values()}
        for page in self.pages.values():
            # In Eleventy and Obsidian, `blog/blog.md` is the page of the folder `blog`.
            if page.file is not None and page.file.stem == page.file.parent.name:
                folder_key = _page_key(posixpath.dirname(page.source_id))
                self.by_key.setdefault(folder_key, page.source_id)
        # Only unambiguous names are used, so that no link leads to the wrong page.
        loose: Counter[str] = Counter(_loose_key(key) for key in self.by_key)
        self.by_loose = {_loose_key(key): key for key in self.by_key if loose[_loose_key(key)] == 1}
        names: Counter[str] = Counter(_name_of(key) for key in self.by_key)
        self.by_name = {_name_of(key): key for key in self.by_key if names[_name_of(key)] == 1}
        self.titles: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        """Key of the page with each label."""
        self._read_outline()

    def _read_outline(self) -> None:
        """Read titles, labels and alternative addresses of all pages before their texts."""
        for page in self.pages.values():
            if page.file is None:
                continue
            try:
                head, text, _remark = read_file(page.file)
            # `items` reports it.
            except (ValueError, OSError):
                continue
            key = _page_key(page.source_id)
            heading = _FIRST_HEADING.search(text)
            self.titles[key] = (
                line_of(head.get("title"))
                or (_plain_heading(heading[1].rstrip(" \t#")) if heading else "")
                or _readable(page.name)
            )
            for found in _LABELS.finditer(text):
                self.labels.setdefault((found[1] or found[2]).lower(), key)
            if label := line_of(head.get("label")):
                self.labels.setdefault(label.lower(), key)
            for old in read_old_paths(head):
                self.by_key.setdefault(_page_key(old), page.source_id)
            folder = posixpath.dirname(page.source_id)
            for name in _ADDRESSES:
                if slug := line_of(head.get(name)):
                    # A slug with a leading slash is relative to the root of the site.
                    below = "" if slug.startswith("/") else folder
                    for address in {
                        posixpath.join(below, slug),
                        posixpath.join(folder, slug.strip("/")),
                    }:
                        self.by_key.setdefault(_page_key(address), page.source_id)

    def _find_pages(self) -> Iterator[_SourcePage]:
        """Yield every page, parents first."""
        folders: dict[str, list[Path]] = {}
        number = 0
        for path in walk_files(self.root, MOST_FILES):
            number += 1
            if path.suffix.lower() in _DOCUMENTS:
                self.other_files[path.suffix.lower()] += 1
            if path.name in _CATEGORY_FILES:
                self.categories[self._id_of(path.parent)] = read_data(path)
            if path.suffix.lower() in _PICTURES:
                self.pictures.setdefault(path.name.lower(), self._id_of(path))
            if path.suffix.lower() in _SUFFIXES:
                above_file = path.parent
                # A folder above pages may be a page too, even without a file.
                while above_file != self.root:
                    folders.setdefault(self._id_of(above_file), [])
                    above_file = above_file.parent
                folders.setdefault(self._id_of(path.parent), []).append(path)
        self.is_whole = number < MOST_FILES
        wrappers = {"."}
        with_pages = [folder for folder, paths in folders.items() if paths]
        above_all = posixpath.commonpath(with_pages) if with_pages else ""
        for name in above_all.split("/") if above_all not in ("", ".") else ():
            folder = posixpath.normpath(posixpath.join(max(wrappers, key=len), name))
            # A folder with files belongs to the hierarchy.
            if name not in _WRAPPERS or folders[folder]:
                break
            wrappers.add(folder)
        owners: dict[str, str | None] = {".": None}
        # By depth: the owner of a folder is that of its parent or below it.
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
                # In Eleventy and Obsidian a page may have the name of its folder.
                if own is None and beside is None:
                    own = next((path for path in folders[folder] if path.stem == stem), None)
                locale_root = _locale_of(stem) and parent_folder in wrappers
                # `guide/de/` is the folder `guide` in another language, not a page below it.
                if _locale_of(stem) and not locale_root:
                    stem, above, beside = posixpath.basename(parent_folder), None, None
                if not self.type.hierarchical or locale_root or folder in wrappers:
                    owners[folder] = None
                    own = None
                elif beside is not None:
                    owners[folder] = self._id_of(beside)
                    own = None
                elif own is not None:
                    owners[folder] = self._id_of(own)
                    yield _SourcePage(self._id_of(own), own, stem, above, self._locale_in(own))
                else:
                    owners[folder] = f"{folder}/"
                    locale = self._locale_in(self.root / folder / "-")
                    yield _SourcePage(f"{folder}/", None, stem, above, locale)
            for path in folders[folder]:
                if path == own:
                    continue
                stem, dot, locale = path.stem.rpartition(".")
                stem = stem if dot and _locale_of(locale) else path.stem
                name = _DATE.sub("", stem)
                date = stem[:10] if name != stem else ""
                is_index = folder != "." and name.lower() in _FOLDER_PAGES
                is_root = parent_folder in wrappers and _locale_of(posixpath.basename(folder))
                if is_index and not is_root:
                    name = posixpath.basename(folder)
                yield _SourcePage(
                    self._id_of(path), path, name, owners[folder], self._locale_in(path), date
                )

    def _locale_in(self, path: Path) -> str:
        """Return the language in a folder name on the file's path, or at the end of its name."""
        *folders, _name = path.relative_to(self.root).parts
        words = [path.stem.rpartition(".")[2] if "." in path.stem else "", *reversed(folders)]
        return next((found for word in words if (found := _locale_of(word))), "")

    def _id_of(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        seen: set[tuple[str, str]] = set()
        unused: Counter[str] = Counter()
        without: Counter[str] = Counter()
        uses = {use.slug for use in self.type.taxonomies}
        for page in self.pages.values():
            if page.file is None:
                yield self._folder_item(page)
                continue
            try:
                head, text, remark = read_file(page.file)
            except (ValueError, OSError) as error:
                # Remarks belong to the outline; otherwise they would be repeated for each level of posts.
                if not wanted:
                    yield Remark(page.source_id, str(error), "error")
                continue
            unused.update(name for name in head if name not in USED_NAMES)
            terms: list[tuple[str, str]] = []
            for name, taxonomy in TERMS.items():
                words = words_of(head.get(name))
                if taxonomy not in uses:
                    without[taxonomy] += len(words)
                    continue
                for word in words:
                    terms.append((taxonomy, word))
                    if (taxonomy, word) not in seen:
                        seen.add((taxonomy, word))
                        yield TermItem(word, taxonomy, word)
            item = self.read_post(
                page.source_id,
                partial(self._page_item, page, head, text, remark, tuple(terms)),
                page.source_id in wanted,
            )
            if isinstance(item, PostItem) or not wanted:
                yield item
        if self.other_files and not wanted:
            listed = ", ".join(f"{name} ({n})" for name, n in self.other_files.most_common())
            message = _("Files that are not Markdown were left out: %(names)s.")
            yield Remark(_("Folder"), message % {"names": listed})
        if not self.is_whole and not wanted:
            text = _("The folder has more than %(most)s files; the rest was not read.")
            yield Remark(_("Folder"), text % {"most": f"{MOST_FILES:,}"}, "error")
        for taxonomy, number in without.items() if not wanted else ():
            if number:
                text = _("Posts of type %(type)s have no %(taxonomy)s; %(number)s left out.")
                values = {"type": self.options.type, "taxonomy": taxonomy, "number": number}
                yield Remark(_("Front matter"), text % values)
        if unused and not wanted:
            listed = ", ".join(f"{name} ({number})" for name, number in unused.most_common(100))
            yield Remark(_("Front matter"), _("Not used: %(names)s.") % {"names": listed}, "info")

    def _folder_item(self, page: _SourcePage) -> PostItem:
        """Return the item for a folder without an index file, with Docusaurus' description if there is one."""
        found = self.categories.get(page.source_id.rstrip("/"), {})
        link = found.get("link")
        fields: JsonObject = {}
        if isinstance(link, Mapping) and (description := line_of(link.get("description"))):
            fields["metaDescription"] = description
        position = found.get("position")
        if isinstance(position, int) and not isinstance(position, bool):
            fields["orderIndex"] = max(-1_000_000, min(position, 1_000_000))
        return self._item(
            page,
            line_of(found.get("label")) or _readable(page.name) or _("Folder"),
            slug_of(page.name),
            locale=page.locale or self.options.site_locale,
            fields=fields,
        )

    def _described_authors(self, base: str) -> Mapping[str, object]:
        """Return the authors described in the folders above a page, by key."""
        folder = posixpath.dirname(base)
        if folder not in self.authors:
            found: Mapping[str, object] = {}
            for name in _AUTHOR_FILES:
                path = file_inside(self.root, posixpath.join(folder, name))
                if path is not None:
                    found = read_data(path)
                    break
            if isinstance(inside := found.get("authors"), Mapping):
                found = inside
            above = self._described_authors(folder) if folder else {}
            self.authors[folder] = {**above, **found}
        return self.authors[folder]

    def _remarks_on_origin(self, page: _SourcePage, head: Mapping[str, object]) -> list[Remark]:
        """Return remarks on the authors of the page in the source."""
        remarks: list[Remark] = []
        if names := self._authors_of(page, head)[1]:
            text = _("Author in the source: %(name)s.") % {"name": ", ".join(names)[:500]}
            remarks.append(Remark(page.source_id, text, "info"))
        return remarks

    def _authors_of(self, page: _SourcePage, head: Mapping[str, object]) -> tuple[str, list[str]]:
        found: list[object] = []
        for name in AUTHORS:
            value = head.get(name)
            found += value if isinstance(value, list) else [value]
        return read_authors(found, self._described_authors(page.source_id))

    def _page_item(
        self,
        page: _SourcePage,
        head: Mapping[str, object],
        text: str,
        remark: str,
        terms: tuple[tuple[str, str], ...],
        is_wanted: bool,
    ) -> PostItem:
        blocks: list[JsonObject | EmbeddedFrame] = []
        remarks = [Remark(page.source_id, remark)] if remark else []
        source = MarkdownSource(
            page_title=lambda address: self._title_at(address, page.source_id),
            included=lambda name: self._included(name, page.source_id),
            # Some programs read `.md` as MDX; an import at the start of the text shows it.
            is_mdx=page.source_id.endswith(".mdx") or bool(_IMPORT.search(text)),
            variables={name: line for name in head if (line := line_of(head[name]))},
        )
        # Without content, the text is parsed only if the title has to come from it.
        is_read = is_wanted or not line_of(head.get("title"))
        content = read_markdown(text if is_read else "", source)
        blocks = content.blocks
        title, blocks = _title_of(head, blocks, page.name)
        slug = line_of(head.get("slug")).rstrip("/").rsplit("/", 1)[-1] or page.name
        fields: JsonObject = {}
        for key, name in FIELDS.items():
            if value := line_of(head.get(key)):
                fields[name] = value
        order = next((head[key] for key in ORDERS if key in head), None)
        if isinstance(order, int) and not isinstance(order, bool):
            fields["orderIndex"] = max(-1_000_000, min(order, 1_000_000))
        modules: tuple[object, ...] = ()
        if is_wanted:
            builder = ModuleBuilder(self.allowed)
            builder.add_blocks(blocks)
            made = builder.finish()
            modules = made
            content.unknown.update(builder.unknown)
            remarks += content.remarks(page.source_id)
            remarks += front_matter_remarks(head, page.source_id)
            remarks += self._remarks_on_origin(page, head)
        named = next((line_of(head.get(key)) for key in LOCALES if line_of(head.get(key))), "")
        locale = locale_of(named) or page.locale or self.options.site_locale
        if named and not locale_of(named):
            remarks.append(unknown_locale(page.source_id, named, locale))
        return self._item(
            page,
            title,
            slug_of(slug),
            fields=fields,
            modules=modules,
            terms=terms,
            featured_image=image_of(head),
            locale=locale,
            old_paths=tuple(read_old_paths(head)),
            **read_front_matter_dates(head, page.date),
            author_email=self._authors_of(page, head)[0],
            remarks=tuple(remarks),
        )

    def _item(self, page: _SourcePage, title: str, slug: str, **values: object) -> PostItem:
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
            translation_group=_group_of(page.source_id),
            **given,  # type: ignore[arg-type]  # each is a field of the item
        )

    # Addresses.

    def _path_of(self, address: str) -> str | None:
        """Return the path of an address of the source, or None for an address of another site."""
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
        page = self._page_at(address, base)
        if page is not None:
            return _page_key(page)
        path = self._path_of(address)
        return self._candidates(path, base)[0] if path else ""

    def _page_at(self, address: str, base: str) -> str | None:
        """Return the page of the source that an address leads to."""
        path = self._path_of(address)
        if not path:
            # A label of MyST may be in another page, although its address is only a fragment.
            label = unquote(address[1:]).lower() if address.startswith("#") else ""
            key = self.labels.get(label, "")
            return self.by_key.get(key) if key and key != _page_key(base) else None
        candidates = self._candidates(path, base)
        found = next((key for key in candidates if key in self.by_key), None)
        if found is not None:
            return self.by_key[found]
        # Sites omit the order numbers of files and the folders above their documents.
        flat = base.replace("--", "/")
        loose = [*candidates, *self._candidates(path, flat)]
        parts = _loose_key(_page_key(path)).split("/")
        tried = [
            *map(_loose_key, loose),
            *("/".join(parts[start:]) for start in range(1, len(parts))),
        ]
        found = next((self.by_loose[key] for key in tried if key in self.by_loose), None)
        found = found or self.by_name.get(_name_of(_page_key(path)))
        return self.by_key[found] if found else None

    def _candidates(self, path: str, base: str) -> list[str]:
        """Return the pages that a path may mean: relative to the file's folder, or to the page's address.

        A path that begins with a slash is relative to the site's root, which may be any folder above the file.
        """
        if path.startswith("/"):
            above = posixpath.dirname(base).split("/") if "/" in base else []
            roots = ["/".join(above[:number]) for number in range(len(above) + 1)]
            return [_page_key(posixpath.join(root, path.lstrip("/"))) for root in roots]
        below_folder = _page_key(posixpath.join(posixpath.dirname(base), path))
        below_page = _page_key(posixpath.join(_PAGE_SUFFIX.sub("", base), path))
        return [below_folder, below_page, _page_key(path)]

    def _title_at(self, address: str, base: str) -> str | None:
        page = self._page_at(address, base)
        return self.titles.get(_page_key(page)) if page is not None else None

    def _included(self, name: str, base: str) -> str | None:
        """Return the text of a file that another file includes."""
        starts = ["" if name.startswith("/") else posixpath.dirname(base), "", "includes"]
        above = posixpath.dirname(base) if name.startswith("/") else ""
        while above:  # as for links: the folder of a language may be the root of the source
            starts.append(above)
            above = posixpath.dirname(above)
        for start in starts:
            path = file_inside(self.root, _plain_path(posixpath.join(start, name.lstrip("/"))))
            if path is not None:
                try:
                    return read_file(path)[1]
                except (ValueError, OSError):
                    return None
        return None

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
        if path.startswith("/"):
            above = posixpath.dirname(base)
            while above:
                candidate = posixpath.join(above, _plain_path(path))
                if file_inside(self.root, candidate) is not None:
                    return candidate
                above = posixpath.dirname(above)
        elif "/" not in path and path.lower() in self.pictures:
            return self.pictures[path.lower()]
        return wanted[0]

    def linked_file_key(self, address: str, base: str) -> str:
        path = self._path_of(address)
        if not path or not _FILE_SUFFIX.search(path):
            return ""
        key = self.file_key(address, base)
        return key if self.files.find(key) is not None else ""


def _title_of(
    head: Mapping[str, object], blocks: Sequence[JsonObject | EmbeddedFrame], name: str
) -> tuple[str, list[JsonObject | EmbeddedFrame]]:
    """Return the title, and the blocks without the heading that repeats it. The page shows its title itself."""
    heading = next(
        (one for one in blocks if not isinstance(one, EmbeddedFrame) and kind(one) == "heading"),
        None,
    )
    words = ""
    if heading is not None:
        words = " ".join(to_text({"type": "doc", "content": [heading]}).split())
    title = line_of(head.get("title")) or words or _readable(name) or "Untitled"
    if heading is not None and heading is blocks[0]:
        has_image = any(kind(one) == "image" for one in children(heading))
        # A heading with a picture stays, since the title would lose the picture.
        if attributes(heading).get("level") == 1 and words == title and not has_image:
            return title, list(blocks[1:])
    return title, list(blocks)


def _locale_of(word: str) -> str:
    """Return the site language that a folder or file name is; empty if none."""
    return locale_of(word) if _LOCALE.match(word) else ""


def _group_of(source_id: str) -> str:
    """Return the common key of one text's files in several languages: their path without the language."""
    bare = _PAGE_SUFFIX.sub("", source_id)
    stem, dot, locale = bare.rpartition(".")
    bare = stem if dot and _locale_of(locale) else bare
    return _page_key("/".join(part for part in bare.split("/") if not _locale_of(part)) or bare)


def _readable(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").strip().capitalize()


def _plain_heading(text: str) -> str:
    """Return the text of a heading without Markdown marks."""
    text = re.sub(r"\s{0,20}\{[^{}]*\}\s{0,20}$|[`*]", "", text)
    return " ".join(re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def _plain_path(path: str) -> str:
    """Return the path without dot segments. A path that leads outside is cut to the part inside."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _loose_key(key: str) -> str:
    """Return the key without numbers and dates that order files; `--` in a file name counts as a folder."""
    parts = key.replace("--", "/").split("/")
    return "/".join(_NUMBER.sub("", _DATE.sub("", part)).replace("_", "-") for part in parts)


def _name_of(key: str) -> str:
    return _loose_key(key).rsplit("/", 1)[-1]


def _page_key(path: str) -> str:
    """Return the common key of all spellings of a page's address."""
    bare = _PAGE_SUFFIX.sub("", _plain_path(path))
    name = bare.rsplit("/", 1)[-1]
    if name.lower() in _FOLDER_PAGES:
        bare = bare[: -len(name)].rstrip("/") or name
    return bare.lower()
