"""The admin's formats of a time and of a day. Visitors' pages use Django's date format."""

DATETIME_FORMAT = "Y-m-d H:i"
SHORT_DATE_FORMAT = "j F Y"
MONTH_DAY_FORMAT = "j F"
