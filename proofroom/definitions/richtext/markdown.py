"""Markdown in and out of the stored form.

What CommonMark cannot express is normalised by `to_markdown`: empty paragraphs go, a table's first
row becomes its header and its cells hold one paragraph, merged cells and lettered lists become
plain ones, a link's target goes, equal neighbours join, line breaks in a text become spaces.
Text is never lost: raw HTML is read as the text it is, and only `<br>` is understood.
"""

from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown

__all__ = ["from_markdown", "to_markdown"]
