"""The admin's formats of a time and of a day."""

DATETIME_FORMAT = "d.m.Y H:i"
SHORT_DATE_FORMAT = "j. F Y"
