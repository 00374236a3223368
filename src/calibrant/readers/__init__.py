"""Files at the edge: whatever comes in is checked and named by line here, and is items or columns afterwards."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.readers.tabular import ItemTable, Survey, read_items

__all__ = ["ItemTable", "Survey", "read_items"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ItemTable": "calibrant.readers.tabular",
        "Survey": "calibrant.readers.tabular",
        "read_items": "calibrant.readers.tabular",
    },
)
