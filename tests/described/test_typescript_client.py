"""`@proofroom/client` with the types of this site: its tests, `tsc --strict`, and reads from a live server."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings
from django.core.management import call_command

from tests import make
from tests.mcp import npm

pytestmark = [pytest.mark.clients, pytest.mark.django_db(transaction=True)]

FOLDER: Final = Path(settings.BASE_DIR, "frontend", "client")
TSC: Final = "node_modules/typescript/bin/tsc"
CHECK: Final = """
import { createClient, ProofroomError } from "CLIENT/dist/src/index.js";
import { richTextToHtml } from "CLIENT/dist/src/richtext/html.js";
import type { Site, Module } from "./site.js";

const cms = createClient<Site>({ baseUrl: process.argv[2]! });

function shown(module: Module): string {
  const props = { ...module.props, ...module.overrides };
  void props;
  switch (module.type) {
    case "hero":
      return module.props.title;
    case "prose":
      return richTextToHtml(module.props.content);
    default:
      return "";
  }
}

const titles: string[] = [];
for await (const post of cms.posts.all({ type: "blog", fields: ["title", "url"], perPage: 2 })) {
  titles.push(post.title);
  // @ts-expect-error was not asked for
  void post.modules;
}
// @ts-expect-error no such locale
const refused = await cms.posts.list({ locale: "xx" }).catch((error: unknown) => error);

const found = await cms.resolve("/blog/linking");
if (found?.type !== "post" || found.post.type !== "blog") throw new Error("no post of the blog");
const texts = found.post.modules.map(shown);
const quotes = await cms.posts.list({ type: "testimonial", fields: ["title"] });

console.log(
  JSON.stringify({
    titles: titles.sort(),
    text: texts.join(""),
    gone: await cms.resolve("/nowhere"),
    quotes: quotes.data.length,
    code: refused instanceof ProofroomError ? refused.status : null,
  }),
);
"""


@pytest.fixture(scope="module")
def client() -> Path:
    """Return the folder of the built client."""
    npm.installed(FOLDER)
    built = npm.node(TSC, "--project", "tsconfig.json", folder=FOLDER)
    assert built.returncode == 0, built.stdout
    return FOLDER


def test_the_tests_of_the_client_pass(client: Path) -> None:
    tests = sorted(str(path) for path in (client / "dist" / "tests").glob("*.test.js"))

    done = npm.node("--test", *tests, folder=client)

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_site_is_read_with_its_own_types(client: Path, live_server: Any, tmp_path: Path) -> None:
    make.post("Target", slug="target")
    make.post("Linking", markdown="## Top\n\n[this](/blog/target)")
    make.post("Third")
    make.post("Quote", type="testimonial")
    site, check = tmp_path / "site.ts", tmp_path / "check.ts"
    call_command("generate_types", "typescript", "--output", str(site), stdout=StringIO())
    check.write_text(CHECK.replace("CLIENT", str(client)))
    (tmp_path / "package.json").write_text('{"type": "module"}')

    compiled = npm.node(
        *(TSC, "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"),
        *("--target", "es2022", "--module", "nodenext", "--skipLibCheck"),
        *("--typeRoots", str(client / "node_modules" / "@types"), "--types", "node"),
        *(str(site), str(check)),
        folder=client,
    )
    assert compiled.returncode == 0, compiled.stdout
    done = npm.node(str(tmp_path / "check.js"), live_server.url, folder=client)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "titles": ["Linking", "Target", "Third"],
        "text": 'Linking<h2 id="top">Top</h2>\n<p><a href="/blog/target">this</a></p>',
        "gone": None,
        "quotes": 1,
        "code": 422,
    }


MANAGEMENT: Final = """
import { createApi } from "CLIENT/dist/src/index.js";
import { operations, type Operations } from "./api.js";

const api = createApi<Operations>(operations, { baseUrl: "https://cms.example", token: "secret" });
export const made = () => api("posts_create", { body: { type: "blog", title: "New" } });
export const title = async (): Promise<string> => (await made()).title;
// @ts-expect-error a post has a title
export const refused = () => api("posts_create", { body: { type: "blog" } });
"""


def test_the_types_of_the_whole_api_compile(client: Path, tmp_path: Path) -> None:
    types, check = tmp_path / "api.ts", tmp_path / "check.ts"
    check.write_text(MANAGEMENT.replace("CLIENT", str(client)))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    call_command(
        *("generate_types", "typescript", "--api", "management", "--output", str(types)),
        stdout=StringIO(),
    )

    done = npm.node(
        *(TSC, "--strict", "--noEmit", "--skipLibCheck", "--target", "es2022"),
        *("--module", "nodenext", str(types), str(check)),
        folder=client,
    )

    assert done.returncode == 0, done.stdout
