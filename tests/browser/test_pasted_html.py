"""HTML pasted into the editor gives the same document as the importer."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import validate
from proofroom_apps.imports.html_reader import SOURCE_IDS, blocks_of_html, frames_to_links
from tests.imports.html_cases import CASES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASTED = """async (sources) => {
  const { createEditor, documentOf } = await import("/static/cms/vendor/richtext.js");
  return sources.map((html) => {
    const content = { type: "doc", content: [{ type: "paragraph" }] };
    const editor = createEditor({
      element: document.createElement("div"), content, attributes: {}, onChange() {}, onMove() {}, onImages() {},
      note: (name) => `[Image not imported: ${name}]`,
    });
    editor.view.pasteHTML(html);
    return documentOf(editor);
  });
}"""


def imported(html: str) -> dict[str, Any]:
    blocks = frames_to_links(blocks_of_html(html))
    for block in blocks:
        attrs = block.get("attrs")
        if isinstance(attrs, dict):
            attrs.pop(SOURCE_IDS, None)
    return {"type": "doc", "content": blocks}


def test_the_editor_and_the_importer_make_the_same_of_html(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/")

    pasted = page.evaluate(PASTED, [html for html, _said in CASES])

    assert [to_markdown(document).strip() for document in pasted] == [said for _html, said in CASES]
    assert [validate(document) for document in pasted] == [[]] * len(CASES)
    assert pasted == [imported(html) for html, _said in CASES]
