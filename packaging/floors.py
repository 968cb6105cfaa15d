"""Put `verify` and `report` into a folder of their own in a wheel, as other distributions may have these names.

A line in a .pth file puts that folder at the end of the import path, so that
scripts find both packages in a place of their own.  An editable install
needs none of this: there the path ends with the checkout.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FLOORS = ("verify", "report")
_HOME = "fedtheory/_floors"


class Floors(BuildHookInterface):
    """Adds the two packages to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what goes where; `version` is "standard" or "editable"."""
        if version == "standard":
            included = {floor: f"{_HOME}/{floor}" for floor in _FLOORS}
            build_data["force_include"] |= included | {"packaging/fedtheory-floors.pth": "fedtheory-floors.pth"}
