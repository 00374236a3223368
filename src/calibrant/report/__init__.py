"""Reports: they take estimates and plain records, and draw."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.report.tables import run_csv, run_text

__all__ = ["run_csv", "run_text"]

__getattr__, __dir__ = lazy_exports(
    __name__, {"run_csv": "calibrant.report.tables", "run_text": "calibrant.report.tables"}
)
