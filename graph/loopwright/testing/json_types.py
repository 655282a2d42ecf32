"""The type of what JSON can say."""

from typing import TypeAlias

JSON: TypeAlias = "str | int | float | bool | list[JSON] | dict[str, JSON] | None"
JSONObject: TypeAlias = dict[str, JSON]
