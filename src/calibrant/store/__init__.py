"""The workspace on disk: every model call, rating, label and manifest, in one SQLite database."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.store.records import CallRecord, ItemRecord, LabelRecord
    from calibrant.store.workspace import Workspace, open_workspace

__all__ = ["CallRecord", "ItemRecord", "LabelRecord", "Workspace", "open_workspace"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "CallRecord": "calibrant.store.records",
        "ItemRecord": "calibrant.store.records",
        "LabelRecord": "calibrant.store.records",
        "Workspace": "calibrant.store.workspace",
        "open_workspace": "calibrant.store.workspace",
    },
)
