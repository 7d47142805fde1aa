"""Rich text: the stored form (a ProseMirror JSON document), and its conversion to Markdown, HTML and plain text.

Imports no Django, so that workers, importers and tests can use it alone.
"""
