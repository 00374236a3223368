"""Reports: they take estimates and plain records, and draw."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.report.comparison_tables import comparison_csv, comparison_text
    from calibrant.report.markup import element
    from calibrant.report.page import Section, section
    from calibrant.report.report_page import html_report
    from calibrant.report.tables import run_csv, run_text

__all__ = ["Section", "comparison_csv", "comparison_text", "element", "html_report", "run_csv", "run_text", "section"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Section": "calibrant.report.page",
        "comparison_csv": "calibrant.report.comparison_tables",
        "comparison_text": "calibrant.report.comparison_tables",
        "element": "calibrant.report.markup",
        "html_report": "calibrant.report.report_page",
        "run_csv": "calibrant.report.tables",
        "run_text": "calibrant.report.tables",
        "section": "calibrant.report.page",
    },
)
