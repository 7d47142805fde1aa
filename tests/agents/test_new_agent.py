"""`manage.py new_agent`: writes usable files, and overwrites none."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import get_agent
from agents_app.definitions.schema import Scope
from tests.agents.environment import set_env


def new_agent(*words: str) -> str:
    out = StringIO()
    call_command("new_agent", *words, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("kind", [".md", ".json"])
def test_the_file_is_sound_with_every_scope_and_any_name(agents_dir: Path, kind: str) -> None:
    name = 'It\'s "quoted": {{agent}} # über'
    scopes = [word for scope in Scope for word in ("--scope", scope.value)]

    said = new_agent(
        "tone-keeper", "--name", name, *scopes, *(["--json"] if kind == ".json" else [])
    )

    agent = get_agent("tone-keeper")
    assert agent is not None
    assert (agent.name, agent.enabled) == (name, True)
    assert [entry.scope for entry in agent.scopes] == list(Scope)
    assert "You are {{agent}}." in agent.llm_config.system_prompt
    assert run_checks(tags=["definitions"]) == []
    assert said.startswith(f"Wrote {agents_dir / 'tone-keeper'}{kind}\nNext: ")


def test_without_words_it_is_one_for_the_editor(agents_dir: Path) -> None:
    new_agent("tone-keeper")

    agent = get_agent("tone-keeper")
    assert agent is not None
    assert (agent.name, [entry.scope for entry in agent.scopes]) == ("Tone keeper", ["dropdown"])
    assert "# useMCP: true" in (agents_dir / "tone-keeper.md").read_text()


def test_every_comment_that_is_taken_away_leaves_a_sound_file(agents_dir: Path) -> None:
    """The file stays valid when any of its comments is activated."""
    new_agent("tone-keeper", "--scope", "field", "--scope", "form.submit")
    path = agents_dir / "tone-keeper.md"
    lines = path.read_text().replace("# modelText: …", "# modelText: a-model").split("\n")
    path.write_text("\n".join(line.replace("# ", "", 1) if line.lstrip().startswith("# ") and "Without" not in line
                              else line for line in lines))  # fmt: skip
    definitions.reload()

    agent = get_agent("tone-keeper")
    assert agent is not None, definitions.catalogue().problems
    assert (agent.llm_config.provider_text, agent.llm_config.use_mcp) == ("anthropic", True)
    assert [reaction.type for reaction in agent.reactions] == ["chat"]
    assert agent.scopes[0].field_types == ("text", "textarea")
    assert agent.scopes[0].allowed_fields == ("post.title", "module.hero.*")
    assert agent.scopes[1].form_slugs == ("contact",)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Bad_Name"], "is not a valid id"),
        (["../escape"], "is not a valid id"),
        (["x" * 81], "is not a valid id"),
        (["a\x00b"], "is not a valid id"),
        (["seo-specialist"], "already exists in agents_app/agents/seo-specialist.md"),
        (["fresh", "--name", "two\nlines"], "must be one line"),
        (["fresh", "--name", "x" * 121], "1 to 120"),
        (["fresh", "--scope", "nowhere"], "invalid choice"),
    ],
    ids=["capitals", "path", "long", "nul", "taken", "lines", "long name", "scope"],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    agents_dir: Path, words: list[str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        new_agent(*words)

    assert list(agents_dir.iterdir()) == []


def test_a_file_that_is_there_is_never_written_over(agents_dir: Path) -> None:
    (agents_dir / "broken.md").write_text("mine")

    with pytest.raises(CommandError, match=r"already exists in CMS_AGENTS_DIR/broken\.md"):
        new_agent("broken", "--json")

    assert [path.name for path in agents_dir.iterdir()] == ["broken.md"]
    assert (agents_dir / "broken.md").read_text() == "mine"


def test_the_agent_is_written_to_the_given_folder(
    settings: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    set_env(settings, cms_agents_dir=None)
    monkeypatch.setattr(
        "django.apps.apps.get_app_config",
        lambda label: type("App", (), {"path": str(tmp_path / label)}),
    )

    with pytest.raises(CommandError, match="Set CMS_AGENTS_DIR"):
        new_agent("tone-keeper")
    elsewhere = new_agent("tone-keeper", "--folder", str(tmp_path / "mine"))
    new_agent("tone-finder", "--folder", "content")

    assert (tmp_path / "mine" / "tone-keeper.md").is_file()
    assert f"set CMS_AGENTS_DIR={tmp_path / 'mine'}" in elsewhere
    assert (tmp_path / "content" / "agents" / "tone-finder.md").is_file()
