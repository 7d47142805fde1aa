"""Archives: all content of an installation, or a selection, in one file that another installation can import."""
