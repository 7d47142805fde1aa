"""The admin's forms of a moment and of a day. Pages for visitors keep Django's form of a date."""

DATETIME_FORMAT = "Y-m-d H:i"
SHORT_DATE_FORMAT = "j F Y"
MONTH_DAY_FORMAT = "j F"
