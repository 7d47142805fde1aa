"""Rich text: one stored form (a ProseMirror JSON document), and its Markdown, HTML and plain text.

Imports no Django, so that workers, importers and tests use it alone.
"""
