"""Prompt versions: stored once with the first run, and shown with each run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun, PromptVersion
from tests import make
from tests.agents.asking import execute

pytestmark = pytest.mark.django_db
OWN = "seo-specialist"


def write(folder: Path, words: str, options: str = "{}") -> None:
    scopes = "[{scope: dropdown}]"
    (folder / f"{OWN}.md").write_text(
        f"---\nname: Titles\nscopes: {scopes}\nllmConfig: {{options: {options}}}\n---\n{words}\n"
    )
    definitions.reload()


def page(client: Any, path: str, **query: str) -> str:
    response = client.get(f"/admin/agents_app/{path}/", query)
    assert response.status_code == 200
    return str(response.content.decode())


def test_a_version_is_kept_once_and_another_one_is_pointed_out(
    agents_dir: Path, signed_in: Any
) -> None:
    post = make.post()

    write(agents_dir, "Write <b>short</b> titles.")
    first, again = execute(post), execute(post)
    write(agents_dir, "Write long titles.")
    second = execute(post)
    write(agents_dir, "Write long titles.", "{temperature: 0.5}")
    third = execute(post)

    versions = [run.prompt_version for run in (first, again, second, third)]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3
    assert all(len(version) == 12 for version in versions)
    kept = dict(PromptVersion.objects.values_list("digest", "instructions"))
    assert kept == {
        versions[0]: "Write <b>short</b> titles.",
        versions[2]: "Write long titles.",
        versions[3]: "Write long titles.",
    }
    _is_shown(signed_in, first, second, third)


def test_a_key_in_a_prompt_is_neither_kept_nor_shown(
    agents_dir: Path, signed_in: Any, settings: Any
) -> None:
    key, post = settings.SECRET_KEY, make.post()
    write(agents_dir, f"Use {key} for it.")
    first = execute(post)
    write(agents_dir, f"Use {key} for it.", "{temperature: 0.5}")

    admin = signed_in("admin")
    told = page(admin, f"agentswitch/{OWN}/prompts/{first.prompt_version}")
    agent = page(admin, f"agentswitch/{OWN}/change")

    assert PromptVersion.objects.get().instructions == "Use [hidden] for it."
    assert "Changes since then" not in told
    assert not [html for html in (told, agent) if key in html]


def _is_shown(signed_in: Any, first: AgentRun, second: AgentRun, third: AgentRun) -> None:
    admin, editor = signed_in("admin"), signed_in()
    old = first.prompt_version
    text = f"agentswitch/{OWN}/prompts/{old}"

    html = page(admin, text)
    assert "Write &lt;b&gt;short&lt;/b&gt; titles." in html
    assert "changed since then" in html
    assert f'?agent_id={OWN}&amp;prompt={old}">2</a>' in html
    assert "current" in page(admin, f"agentswitch/{OWN}/prompts/{third.prompt_version}")
    assert admin.get(f"/admin/agents_app/agentswitch/translator/prompts/{old}/").status_code == 404
    assert editor.get(f"/admin/agents_app/{text}/").status_code == 403

    assert f"{text}/" in page(admin, f"agentrun/{first.pk}/change")
    html = page(editor, f"agentrun/{first.pk}/change")
    assert f"<code>{old}</code>" in html
    assert "/prompts/" not in html
    compared = {"with": str(second.pk)}
    for client, is_told in ((admin, True), (editor, False)):
        html = page(client, f"agentrun/{first.pk}/compare", **compared)
        assert "The prompt changed between these two runs." in html
        assert ("Prompt: changes from the first run to the second" in html) is is_told
    html = page(admin, f"agentrun/{second.pk}/compare", **{"with": str(third.pk)})
    assert "The text is the same. Its tools, options or system rules changed" in html

    html = page(editor, "agentrun", agent_id=OWN, prompt=old)
    assert f"{first.pk}/change/" in html
    assert f"{second.pk}/change/" not in html
    assert f"{text}/" in page(admin, f"agentswitch/{OWN}/change")
    review = editor.get(f"/admin/content/post/{first.post_id}/review/?layer=ai_review")
    assert f"prompt {first.prompt_version}" in review.content.decode()
