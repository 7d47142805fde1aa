"""A source of posts: its options, a reader of it, and the files that its content names."""

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

from proofroom.core.database.faults import DATABASE_AWAY
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
"""Of one source: posts, terms, files and menus together."""


def locale_of(word: str) -> str:
    """The language of the site that a word like `de`, `pt-br` or `en_US` names; empty for none."""
    known = {locale.lower(): locale for locale in settings.CMS_ENV.locales}
    whole = word.lower().replace("_", "-")
    return known.get(whole) or known.get(whole.partition("-")[0], "")


def unknown_locale(place: str, name: str, locale: str) -> Remark:
    """What is said of a post in a language that the site does not have."""
    text = _("This site does not have the language %(name)s; the post is in %(language)s.")
    return Remark(place, text % {"name": name[:40], "language": language_name(locale)})


class ImportOptions(BaseModel):
    """What whoever starts an import chooses. `media` is a folder on the machine of the command.

    `name` tells sources of one kind apart, such as two folders named docs; `site` is the address where the source was
    published; `mapping` says which column or path of the source fills which field.
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
    """A source that is open. `scope` names the site or folder that the ids of its items belong to."""

    scope: str
    files: MediaFiles

    @abstractmethod
    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        """Every item, each time in the same order. Posts whose ids are not `wanted` need no content.

        Raises `RuleViolation` where the source cannot be read at all; what is broken in it is a `Remark`.
        """

    def read_post(
        self, place: str, read: Callable[[bool], PostItem], is_wanted: bool
    ) -> PostItem | Remark:
        """The post that `read` answers; its argument says whether with its content. A broken one harms no other.

        One whose content cannot be read has a `problem`, one that cannot be read at all is a remark.
        """
        try:
            return read(is_wanted)
        except DATABASE_AWAY:
            raise
        except Exception as error:
            problem = sentence_of(error)
        if is_wanted:
            try:
                return replace(read(False), problem=problem)
            except Exception as error:
                problem = sentence_of(error)
        return Remark(place[:280], problem, "error")

    def link_key(self, address: str, base: str) -> str:
        """What `PostItem.addresses` calls the page that an address in the content at `base` leads to."""
        return urldefrag(address)[0]

    def is_own(self, address: str, base: str) -> bool:
        """Whether an address that no post answers to should have led to a page of the source."""
        return False

    def file_key(self, address: str, base: str) -> str:
        """The one address of a file that the content at `base` names; empty for one that stays where it is."""
        return address if address.startswith(("http://", "https://")) else ""

    def alt_text(self, key: str) -> str:
        """What the source says in place of a file, where the content that names it cannot."""
        return ""

    def linked_file_key(self, address: str, base: str) -> str:
        """The file of the source that a link in the content leads to; empty for none."""
        return ""

    def close(self) -> None:  # noqa: B027  # most hold nothing open
        """Let go of what is open."""


class ContentSource(RunSource):
    """A source of posts, terms, files and menus, as a run reads it; `ContentImporter` makes an importer of it."""

    default_type: ClassVar[str] = "page"

    @abstractmethod
    def open(self, path: Path, options: ImportOptions) -> Reader:
        """Open the file or folder. Raises `RuleViolation` where it is none of this kind."""

    def check_options(self, values: Mapping[str, Any]) -> ImportOptions:
        """The options with their defaults. Raises `RuleViolation` by field."""
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
        """Raise `RuleViolation` unless there is a file or folder as this importer reads it."""
        if self.takes == "folder" and not path.is_dir():
            raise RuleViolation(_("%(path)s is not a folder.") % {"path": path})
        if self.takes == "file" and not path.is_file():
            raise RuleViolation(_("%(path)s is not a file.") % {"path": path})
        if not path.exists():
            raise RuleViolation(_("There is no file or folder %(path)s.") % {"path": path})
