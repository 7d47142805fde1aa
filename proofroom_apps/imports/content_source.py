"""A source of posts: its options, its reader, and the files that its content names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import urldefrag

from django.conf import settings
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n.languages import language_name, require_site_language
from proofroom.core.validation.errors import describe_translated, first_fault
from proofroom.core.validation.limits import LOCALE_MAX
from proofroom.definitions import find_post_type
from proofroom_apps.imports.items import Item, PostItem, Remark
from proofroom_apps.imports.media_files import MediaFiles
from proofroom_apps.imports.problems import sentence_of
from proofroom_apps.imports.run_source import RunSource

MAX_ITEMS: Final = 200_000
"""Maximum number of items of a source: posts, terms, files and menus together."""


def locale_of(word: str) -> str:
    """Return the site language for a word such as `de`, `pt-br` or `en_US`; empty if there is none."""
    known = {locale.lower(): locale for locale in settings.CMS_ENV.locales}
    whole = word.lower().replace("_", "-")
    # A region that the site lacks falls back to the language: `de-at` to `de`.
    return known.get(whole) or known.get(whole.partition("-")[0], "")


def unknown_locale(place: str, name: str, locale: str) -> Remark:
    """Return the remark for a post in a language that the site lacks."""
    text = _("This site does not have the language %(name)s; the post is in %(language)s.")
    return Remark(place, text % {"name": name[:40], "language": language_name(locale)})


class ImportOptions(BaseModel):
    """The options of an import. `media` is a folder on the machine that runs the command.

    `name` distinguishes sources of one kind, such as two folders named docs; `site` is the address at which the
    source was published; `mapping` maps fields to columns or paths of the source.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Annotated[str, Field(max_length=60)] = ""
    locale: Annotated[str, Field(max_length=LOCALE_MAX)] = ""
    name: Annotated[str, Field(max_length=200)] = ""
    site: Annotated[str, Field(max_length=300)] = ""
    media: str = ""
    fetch: bool = True
    live: bool = False
    mapping: dict[str, object] = {}

    @property
    def site_locale(self) -> str:
        return self.locale or str(settings.CMS_ENV.default_locale)


class Reader(ABC):
    """An open source. `scope` names the site or folder that the ids of its items belong to."""

    scope: str
    files: MediaFiles

    @abstractmethod
    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        """Yield every item, always in the same order. Posts whose ids are not `wanted` need no content.

        Raises `RuleViolation` if the source cannot be read at all; an unreadable part becomes a `Remark`.
        """

    def read_post(
        self, place: str, read: Callable[[bool], PostItem], is_wanted: bool
    ) -> PostItem | Remark:
        """Return the post from `read`, whose argument is True if content is wanted. Errors don't stop other posts.

        A post with unreadable content has a `problem`; an unreadable post becomes a remark.
        """
        try:
            return read(is_wanted)
        # An unreachable database is no defect of the post.
        except DATABASE_UNREACHABLE:
            raise
        # A source may break a parser in any way; one unreadable post must not stop the run.
        except Exception as error:
            problem = sentence_of(error)
        if is_wanted:
            try:
                # Without its content, the post keeps its place in the outline and its title in the report.
                return replace(read(False), problem=problem)
            except Exception as error:
                problem = sentence_of(error)
        return Remark(place[:280], problem, "error")

    def link_key(self, address: str, base: str) -> str:
        """Return the key in `PostItem.addresses` of the page that an address in the content at `base` links to."""
        return urldefrag(address)[0]

    def is_own(self, address: str, base: str) -> bool:
        """Return whether an address without a post should have led to a page of the source."""
        return False

    def file_key(self, address: str, base: str) -> str:
        """Return the canonical address of a file that the content at `base` names; empty if it is not imported."""
        return address if address.startswith(("http://", "https://")) else ""

    def alt_text(self, key: str) -> str:
        """Return the source's alternative text of a file, for content that cannot have one."""
        return ""

    def linked_file_key(self, address: str, base: str) -> str:
        """Return the address of the source's file that a link leads to; empty if there is none."""
        return ""

    def close(self) -> None:  # noqa: B027  # most hold nothing open
        """Close open files."""


class ContentSource(RunSource):
    """A source of posts, terms, files and menus for a run. `ContentImporter` makes an importer of it."""

    default_type: ClassVar[str] = "page"

    @abstractmethod
    def open(self, path: Path, options: ImportOptions) -> Reader:
        """Open the file or folder. Raises `RuleViolation` if it is not of this kind."""

    def check_options(self, values: Mapping[str, Any]) -> ImportOptions:
        """Return the options with defaults. Raises `RuleViolation` by field."""
        known = {
            name: value for name, value in values.items() if name in ImportOptions.model_fields
        }
        try:
            options = ImportOptions.model_validate(known)
        except ValidationError as error:
            path, reason = first_fault(error, describe_translated, root="options")
            raise invalid(path.partition(".")[0], f"{path}: {reason}") from None
        options = options.model_copy(update={"type": options.type or self.default_type})
        find_post_type(options.type)
        require_site_language(options.site_locale)
        return options

    def check_path(self, path: Path) -> None:
        """Raise `RuleViolation` unless the path is a file or folder that this importer reads."""
        if self.takes == "folder" and not path.is_dir():
            raise RuleViolation(_("%(path)s is not a folder.") % {"path": path})
        if self.takes == "file" and not path.is_file():
            raise RuleViolation(_("%(path)s is not a file.") % {"path": path})
        if not path.exists():
            raise RuleViolation(_("There is no file or folder %(path)s.") % {"path": path})
