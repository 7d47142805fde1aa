"""Archives: all content of an installation, or a choice of it, as one file that another installation reads."""
