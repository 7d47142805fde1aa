"""Days in figures and charts of the admin, written out."""

SHORT_DATE_FORMAT = "j. F Y"
