"""The pictures of the documentation, in the order in which they are taken.

`./run pictures` takes them, and `tests/browser/test_pictures.py` compares them with the committed ones.
A picture in `docs/images/screens/` is shown by `docs/reference/screens.md` only, and is not in the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.browser.pictures import steps

if TYPE_CHECKING:
    from playwright.sync_api import Page

Ids = Mapping[str, str]
"""The ids of a scene's objects, by the names that URLs have for them."""
LAPTOP: Final = (1280, 860)
PHONE: Final = (390, 844)


@dataclass(frozen=True, slots=True)
class Picture:
    file: str
    """The path below `docs/images/`, without its suffix."""
    url: str
    steps: Callable[[Page], None] = steps.nothing
    size: tuple[int, int] = LAPTOP
    user: str = "admin"
    """The role of the reader; empty before the login."""
    dark: bool = False
    language: str = "en"

    @property
    def name(self) -> str:
        return self.file.replace("/", "-")


def _screens(of: Mapping[str, str], *, suffix: str = "", **looks: object) -> Iterator[Picture]:
    for name, url in of.items():
        yield Picture(f"screens/{name}{suffix}", f"/admin/{url}", **looks)


_POST: Final = "/admin/content/post/{coffee}"
_GUIDES: Final = (
    Picture("home", "/admin/", size=(1280, 1000)),
    Picture("inbox", "/admin/inbox/", steps.mark_a_change, size=(1280, 1000), user="editor"),
    Picture("inbox-like", "/admin/inbox/like/{like}/", size=(1280, 1000), user="editor"),
    Picture(
        "review", _POST + "/review/?layer=ai-review", steps.decide, size=(1440, 1000), user="editor"
    ),
    Picture(
        "german", _POST + "/review/?layer=ai-review", size=(1280, 900), user="editor", language="de"
    ),
    Picture("revisions", _POST + "/revisions/"),
    Picture("translations", "/admin/content/translations/", size=(1280, 760), user="editor"),
    Picture("translate", "/admin/content/post/{german}/translate/", size=(1280, 900)),
    Picture("agent-run", "/admin/agents_app/agentrun/{run}/change/", size=(1280, 1080)),
    Picture("media-library", "/admin/media/asset/", steps.select_a_file, user="editor"),
    Picture("media-file", "/admin/media/asset/{asset}/change/", user="editor"),
    Picture("posts", "/admin/content/post/"),
    Picture("tree", "/admin/content/post/tree/"),
    Picture("find-and-replace", "/admin/content/replacement/add/", steps.find_a_word),
    Picture("menu", "/admin/proofroom_menus/menu/{menu}/change/"),
    Picture("terms", "/admin/proofroom_taxonomies/term/?taxonomy=topics"),
    Picture("form", "/admin/forms/formdefinition/{form}/change/"),
    Picture("submissions", "/admin/forms/formsubmission/"),
    Picture("pattern", "/admin/content/urlpattern/add/?type=blog&locale=en&pattern=/journal/{{yyyy}}/{{slug}}"),
    Picture("module-group", "/admin/content/modulegroup/{group}/change/"),
    Picture("global-module", "/admin/content/moduleinstance/{shared}/change/"),
    Picture("preview-links", _POST + "/previews/"),
    Picture("trash", "/admin/content/post/trash/"),
    Picture("import-report", "/admin/proofroom_imports/importrun/{import_run}/change/"),
    Picture("export", "/admin/proofroom_imports/exportrun/{export_run}/change/"),
    Picture("personal-data", "/admin/proofroom_privacy/personaldatarequest/{person}/change/"),
    Picture("analytics", "/admin/analytics/sitecount/", size=(1280, 1000)),
    Picture("heatmap", "/admin/analytics/heatmap/{clicked}/?viewport=desktop", steps.heat, size=(1280, 1000)),
    Picture("mcp-connect", "/admin/mcp/", size=(1280, 1330)),
    Picture("activity-log", "/admin/proofroom_core/event/"),
    Picture("deliveries", "/admin/proofroom_webhooks/delivery/"),
)  # fmt: skip
_EDITING: Final = (
    Picture("fields", "/admin/content/post/{clicked}/change/", steps.write_beside_the_page, size=(1500, 1000)),
    Picture("agent-dialog", "/admin/content/post/{plain}/change/", steps.choose_an_agent),
    Picture("editor", _POST + "/change/", steps.change_a_field, size=(1280, 1000)),
    Picture("module-picker", _POST + "/change/", steps.pick_a_module, size=(1280, 1000)),
    Picture("media-picker", "/admin/content/post/{plain}/change/", steps.pick_a_file, user="editor"),
)  # fmt: skip
_ELSEWHERE: Final = {
    "account": "account/",
    "preview": "content/post/{coffee}/preview/",
    "restore": "content/post/{coffee}/revisions/{revision}/restore/",
    "feedback": "proofroom_feedback/feedback/",
    "jobs": "content/postjob/",
    "approval": "approval/",
    "redirects": "seo/redirect/",
    "media-alt-texts": "media/asset/alt-texts/",
    "imports": "proofroom_imports/importrun/",
    "agents": "agents_app/agentswitch/",
    "agent": "agents_app/agentswitch/seo-specialist/change/",
    "runs": "agents_app/agentrun/",
    "run-failed": "agents_app/agentrun/{failed_run}/change/",
    "ai-settings": "agents_app/aisettings/",
    "connected-clients": "proofroom_oauth/oauthconnection/",
    "users": "proofroom_accounts/user/",
    "tokens": "proofroom_accounts/apitoken/",
    "webhook": "proofroom_webhooks/webhook/{webhook}/change/",
    "delivery-failed": "proofroom_webhooks/delivery/{failed_delivery}/change/",
    "workflows": "proofroom_webhooks/workflowswitch/",
    "posts-nothing-found": "content/post/?q=nothing-has-this",
}
"""Screens that no guide shows."""
_TEAM: Final = {
    "comments": _POST + "/comments/",
    "steps": _POST + "/steps/",
    "release": "/admin/proofroom_releases/release/{release}/change/",
    "calendar": "/admin/calendar/",
}
"""Screens of people who work together."""
_OFTEN: Final = {
    "home": "",
    "inbox": "inbox/",
    "posts": "content/post/",
    "editor": "content/post/{plain}/change/",
    "review-ai": "content/post/{coffee}/review/?layer=ai-review",
    "media": "media/asset/",
}
"""Screens that are also shown in the dark theme and on a phone."""
SCENES: Final[dict[str, tuple[Picture, ...]]] = {
    "site": (
        *_GUIDES,
        *_screens(_ELSEWHERE),
        *_screens(_OFTEN, suffix="-dark", dark=True),
        *_screens(_OFTEN, suffix="-phone", size=PHONE),
        Picture("screens/event", "/admin/proofroom_core/event/{event}/change/", steps.fix_the_seal),
        Picture("screens/login", "/admin/login/", user=""),
        Picture("screens/home-german", "/admin/", language="de"),
        Picture("screens/no-permission", "/admin/proofroom_accounts/user/", user="editor"),
        Picture("screens/editor-right-to-left", "/admin/content/post/{arabic}/change/"),
        # What is typed here is offered again on later visits.
        *_EDITING,
        Picture("screens/media-refused", "/admin/media/asset/", steps.upload_a_program),
        # Opening it marks the notifications as seen.
        Picture("screens/notifications", "/admin/notifications/"),
        Picture("screens/editor-conflict", "/admin/content/post/{plain}/change/", steps.save_after_another_person),
    ),
    "empty": tuple(_screens({"home-empty": "", "inbox-empty": "inbox/"})),
    "team": (
        *(Picture(name, url, user="editor") for name, url in _TEAM.items()),
        *(
            Picture(f"screens/{name}-dark", url, user="editor", dark=True)
            for name, url in _TEAM.items()
        ),
        *(
            Picture(f"screens/{name}-phone", url, user="editor", size=PHONE)
            for name, url in _TEAM.items()
        ),
    ),
    "long": (
        Picture("screens/editor-long", "/admin/content/post/{long}/change/"),
        Picture("screens/inbox-long-phone", "/admin/inbox/", size=PHONE),
    ),
}  # fmt: skip
PICTURES: Final = tuple(picture for scene in SCENES.values() for picture in scene)
