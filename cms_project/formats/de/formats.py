"""The admin's forms of a moment, in UTC, and of a day."""

DATETIME_FORMAT = "d.m.Y H:i"
SHORT_DATE_FORMAT = "j. F Y"
