"""Personal data of menus: none."""

from __future__ import annotations

from typing import Final

WITHOUT_PERSONAL_DATA: Final = ("proofroom_menus.Menu",)
