"""The README and the tutorial, carried out by a reader with two terminals and a browser.

Files are written and commands run as the pages have them, except for the ports. Buttons have the names on the page.
"""

from __future__ import annotations

import re
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.browser import conftest as browser
from tests.deployment.conftest import uv
from tests.deployment.fresh import Terminal, copy_checkout, machine_variables
from tests.drill.written_steps import Machine, Page, blocks_of
from tests.ports import free_port

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(not Path(browser.CHROMIUM).exists(), reason="Chromium is not installed"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]
chromium = browser.chromium
_PASSWORD: Final = "demo-password"


@dataclass
class Reader:
    """Reads a page, and does in the browser what it says."""

    page: Page
    tab: Any

    def quoted(self, before: str) -> str:
        """Return what the page has in italics or as code after these words."""
        found: list[str] = re.findall(rf"{re.escape(before)} [*`]([^*`]+)[*`]", self.page.text)
        assert len(found) == 1, before
        return found[0]

    def go_to(self, path: str) -> None:
        self.tab.goto(self.page.machine.written_here(f"http://127.0.0.1:8000{path}"))

    def log_in(self, email: str) -> None:
        assert f"`{email}`" in self.page.text
        self.tab.context.clear_cookies()
        self.go_to("/admin/")
        self.tab.get_by_label("Email").fill(email)
        self.tab.get_by_label("Password").fill(_PASSWORD)
        self.tab.get_by_role("button", name="Log in", exact=True).click()

    def press(self, name: str) -> None:
        """Press what the page names in bold or italics: a button, a link, or a tab."""
        assert f"*{name}*" in self.page.text, name
        self.open(name)

    def open(self, name: str) -> None:
        """Open a link or press a button, by its name or the begin of it."""
        begin = re.compile(rf"^\W*{re.escape(name)}(?!\w)")
        roles = ("button", "link", "tab")
        longer, exact = (
            [self.tab.get_by_role(role, **named) for role in roles]
            for named in ({"name": begin}, {"name": name, "exact": True})
        )
        either = self._visible(longer)
        either.first.wait_for()
        found = self._visible(exact)
        (found if found.count() else either).first.click()

    @staticmethod
    def _visible(locators: list[Any]) -> Any:
        first, *others = locators
        for other in others:
            first = first.or_(other)
        return first.locator("visible=true")

    def shows(self, text: str) -> None:
        """Wait until the tab shows a text."""
        self.tab.get_by_text(text).locator("visible=true").first.wait_for()

    def proposed(self) -> str:
        """Return the proposed text of the change on the review screen."""
        removed = "block => block.querySelectorAll('del').forEach(one => one.remove())"
        block = self.tab.locator("[data-change] .block-text").first
        block.evaluate(removed)
        return str(block.text_content())

    def run_agent(self, name: str, *, wish: str = "") -> None:
        self.tab.wait_for_selector("[data-agent-chips][data-ready]", state="attached")
        self.press("Agents")
        assert f"*{name}*" in self.page.text
        self.tab.locator(".agent-buttons").get_by_role("link", name=name).click()
        if wish:
            self.tab.get_by_label("What shall change?").fill(wish)
        self.press("Run")
        self.tab.wait_for_selector("dialog [data-run][data-finished]")

    def decide(self, *decisions: str, reason: str = "") -> None:
        """Mark the changes in their order."""
        cards = self.tab.locator("[data-change]")
        for number, decision in enumerate(decisions):
            assert f"**{decision}**" in self.page.text
            cards.nth(number).get_by_role("radio", name=decision).first.check()
            if reason:
                cards.nth(number).get_by_label("Reason for rejecting").fill(reason)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A copy of the checkout on a machine with Python and uv, and nothing running yet."""
    home = tmp_path_factory.mktemp("reader")
    copy_checkout(home / "checkout")
    ports = {"8000": free_port(), "8787": free_port()}
    variables = machine_variables(home, *ports.values(), uv())
    made = Machine(home / "checkout", variables, Terminal(home / "log"), ports)
    yield made
    made.site.stop()


@pytest.fixture(scope="module")
def tab(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context()
    context.set_default_timeout(browser.TIMEOUT)
    yield context.new_page()
    context.close()


@pytest.fixture
def open_page(machine: Machine, tab: Any) -> Iterator[Callable[[str], Reader]]:
    """Begin a page. At the end every block of it must be accounted for."""
    opened: list[Reader] = []

    def begin(name: str) -> Reader:
        opened.append(Reader(Page(name, machine), tab))
        return opened[-1]

    yield begin
    assert [reader.page.left for reader in opened] == [deque()] * len(opened)


def test_the_readme(open_page: Callable[[str], Reader], machine: Machine) -> None:
    reader = open_page("README.md")
    reader.page.follow(but=["./run test"])  # .ci/run runs all tests

    reader.log_in("editor@example.com")
    reader.open(reader.quoted("*Continue writing*, open"))
    reader.run_agent(reader.quoted("*Agents*, choose"))
    reader.press("Review 3 changes")
    reader.decide("Accept", "Accept", "Reject")
    reader.press("Submit 2 to Review, reject 1")
    reader.decide("Accept")
    reader.press("Approve 1")
    reader.tab.wait_for_selector(".messagelist .success")

    machine.site.stop()
    # tests/deployment/test_install_steps.py runs it, and the tutorial begins with the same commands.
    assert "proofroom new shop ../shop" in reader.page.skip()


def test_part_1_install(open_page: Callable[[str], Reader], machine: Machine) -> None:
    reader = open_page("docs/tutorial/1-install.md")
    reader.page.follow(2)
    log = machine.site.log.read_text()
    assert [line for line in reader.page.shown() if line not in log] == []
    reader.page.follow()

    reader.log_in("editor@example.com")
    reader.shows("Needs your attention")


def test_part_2_content_model(open_page: Callable[[str], Reader], machine: Machine) -> None:
    reader = open_page("docs/tutorial/2-content-model.md")
    reader.page.follow(2)
    machine.restart()

    reader.go_to("/admin/")
    reader.press("New post")
    reader.tab.get_by_label("Title", exact=True).fill(reader.quoted("Enter the title"))
    reader.tab.get_by_label("Slug", exact=True).fill(reader.quoted("Enter the slug"))
    reader.tab.get_by_label("Type", exact=True).select_option(label="Product")
    reader.press("Create draft")
    reader.tab.get_by_label("SKU", exact=True).fill(reader.quoted("Enter the SKU"))
    reader.press("Save draft")
    reader.shows("Saved just now")
    reader.page.follow()


def test_part_3_agent(open_page: Callable[[str], Reader], machine: Machine) -> None:
    reader = open_page("docs/tutorial/3-agent.md")
    reader.page.follow(2)
    machine.restart()

    reader.go_to("/admin/")
    reader.press("Posts")
    reader.open("House espresso, roasted in small batches every Monday")
    reader.run_agent("Title shortener", wish=reader.quoted("Write"))
    reader.shows("✓ Succeeded")
    reader.shows("Proposed 1 change")


def test_part_4_review(open_page: Callable[[str], Reader]) -> None:
    reader = open_page("docs/tutorial/4-review.md")
    reader.press("Review 1 change")
    for line in reader.page.shown():
        reader.shows(line.removesuffix("…"))
    reader.shows("needs a closer look")
    reader.decide("Reject", reason=reader.quoted("write a reason, such as"))
    reader.press("Reject 1")

    reader.press("Back to the post")
    reader.run_agent("Title shortener", wish=reader.quoted("Write"))
    reader.press("Review 1 change")
    assert reader.proposed() == reader.quoted("The card now shows")
    reader.shows("Rejected on")
    reader.decide("Accept")
    reader.press("Submit 1 to Review")
    reader.decide("Accept")
    reader.press("Approve 1")
    reader.tab.wait_for_selector(".messagelist .success")


def test_part_5_publish(open_page: Callable[[str], Reader]) -> None:
    reader = open_page("docs/tutorial/5-publish.md")
    reader.press("Back to the post")
    reader.press("Publish")
    reader.shows("View on site")
    reader.page.follow(2)
    line = reader.tab.locator("summary[data-words]", has_text="Who wrote Title")
    assert str(line.get_attribute("data-words")).startswith(reader.quoted("*Title*: it says"))
    reader.press("Agents")
    reader.shows("AI wrote 1 of")


def test_part_6_module(open_page: Callable[[str], Reader], machine: Machine) -> None:
    reader = open_page("docs/tutorial/6-module.md")
    reader.page.follow(6)
    machine.restart()

    reader.go_to("/admin/")
    reader.open("Posts")
    reader.open("House espresso, roasted every Monday")
    reader.press("Add a module…")
    reader.press("Price tag")
    reader.tab.get_by_label("Product", exact=True).fill(reader.quoted("Enter the product"))
    reader.tab.get_by_label("Price", exact=True).fill(reader.quoted("and the price"))
    reader.press("Publish changes")
    reader.shows("View on site")
    reader.page.follow()


def test_part_7_deploy(open_page: Callable[[str], Reader], machine: Machine) -> None:
    reader = open_page("docs/tutorial/7-deploy.md")
    server = machine.folder.parent / "server"
    shutil.copytree(machine.folder, server, ignore=shutil.ignore_patterns(".venv", "var"))
    machine.site.stop()
    machine.folder = server
    reader.page.follow()

    assert (server / ".env").stat().st_mode & 0o777 == 0o600
    settings = dict(line.split("=", 1) for line in (server / ".env").read_text().splitlines())
    compose = (server / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)", compose)) == set(settings)
    assert len(settings["SECRET_KEY"]) == 80
    assert "web" in yaml.safe_load(compose)["services"]
    # These need a container engine. tests/deployment runs the same commands without one, with the same compose.yaml.
    assert "docker compose up" in reader.page.skip()
    assert "docker compose exec web python manage.py doctor" in reader.page.skip()


def test_the_index_of_the_tutorial_has_no_commands() -> None:
    assert blocks_of("docs/tutorial/index.md") == []
