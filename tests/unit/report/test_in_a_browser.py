"""The page in a real browser: nothing fetched, no complaint, readable in light and dark, narrow, and by keyboard."""

import asyncio

import pytest
from browser import CHROMIUM, opened_tab
from sample_runs import brief, items, jury, kept, share, tone

from calibrant.alignment.report_page import score_section
from calibrant.alignment.score_report import Cell, ReportColumn
from calibrant.estimates import Coverage, Estimate
from calibrant.report import html_report
from calibrant.runs import compare

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no chromium; Debian: apt-get install chromium"),
]

DRAWN = "[...document.querySelectorAll('svg')].every((one) => one.getBoundingClientRect().width > 50)"
CONTRAST = """(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map((value) => value / 255)
      .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const seen = [...document.querySelectorAll("p, th, td, small, a, summary, dt, dd, h1, h2, code, .range, .value")];
  return Math.min(...seen.map((one) => {
    const [low, high] = [paper, light(getComputedStyle(one).color)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }));
})()"""


def judges():
    made = Estimate(value=0.8, lower=0.7, upper=0.9, method="t", coverage=Coverage(rated=10))
    cells = {
        "lenient": Cell(value=0.6),
        "strict": Cell(value=0.8, estimate=made),
        "silent": Cell(value=None, reason="?"),
    }
    return score_section(
        [*cells], [ReportColumn(name="kappa", metric="kappa", cells=cells)], {"kappa": ["not settled"]}
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Everything there is, on one page."""
    first = kept(items(), [jury(failing={3}), brief, share, tone], name="old", gates=["brief.failing_items <= 2"])
    second = kept([{**item, "answer": "x"} for item in items()], [jury(), brief, share, tone], name="new")
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html_report(first, compare(first, second), judges(), title="Everything"), encoding="utf-8")
    return path


@pytest.fixture
def browse(page, tmp_path):
    """Run what a test does with the opened page; nothing but the file was fetched then, and nothing complained."""

    def run(visit, **settings):
        async def visited():
            async with opened_tab(tmp_path / "browser") as tab:
                await tab.open(page, **settings)
                found = await visit(tab)
                assert {*tab.fetched()} == {page.as_uri()}
                assert tab.complaints() == []
                return found

        return asyncio.run(visited())

    return run


def test_the_page_reads_as_tables_and_drawings_in_every_form(browse, page):
    async def look(tab):
        seen = {}
        for name, settings in (("light", {}), ("dark", {"dark": True}), ("phone", {"width": 390, "height": 800})):
            await tab.open(page, **settings)
            seen[name] = {
                "tables": await tab.evaluate("document.querySelectorAll('table').length"),
                "drawn": await tab.evaluate(DRAWN),
                "contrast": await tab.evaluate(CONTRAST),
                "overflow": await tab.evaluate("document.documentElement.scrollWidth - innerWidth"),
                "paper": await tab.evaluate("getComputedStyle(document.body).backgroundColor"),
            }
        return seen

    seen = browse(look)
    for name, one in seen.items():
        assert one["tables"] >= 6, name
        assert one["drawn"], name
        assert one["contrast"] >= 4.5, name  # WCAG 2.2, 1.4.3
        assert one["overflow"] <= 0, f"{name} scrolls sideways"
    assert seen["light"]["paper"] == "rgb(255, 255, 255)"
    assert seen["dark"]["paper"] == "rgb(22, 24, 27)"


def test_six_long_scores_of_judges_fit_a_window_of_1080_pixels(tmp_path):
    made = Estimate(value=0.8, lower=0.7, upper=0.9, method="t", coverage=Coverage(rated=100, skipped=20))
    note = "people 0.724 [0.664, 0.784], constant 0.701 [0.639, 0.763], 2.51 [-4.48, 9.49] of the way to a person"
    cells = {judge: Cell(value=0.8, estimate=made, note=note) for judge in ("openai/a-model", "openai/another-model")}
    about = "helpful; individual_average"
    columns = [
        ReportColumn(
            name=f"alt_test_2tasks_{n}588434ab_multilabel_advantage_probability",
            metric=str(n),
            cells=cells,
            about=about,
        )
        for n in range(9)
    ]
    path = tmp_path / "judges.html"
    path.write_text(html_report(score_section([*cells], columns, {})), encoding="utf-8")

    async def beyond():
        async with opened_tab(tmp_path / "browser") as tab:
            await tab.open(path, width=1080, height=900)
            frames = "[...document.querySelectorAll('.frame.fixed')].map((one) => one.scrollWidth - one.clientWidth)"
            return await tab.evaluate(frames)

    assert asyncio.run(beyond()) == [0, 0]


def test_judges_are_sorted_by_a_press_of_a_key(browse):
    async def sort(tab):
        names = "[...document.querySelectorAll('table.judges tbody th')].map((one) => one.textContent)"
        before = await tab.evaluate(names)
        await tab.evaluate("document.querySelectorAll('table.judges th button')[1].focus()")
        await tab.press("Enter")
        return before, await tab.evaluate(names), await tab.evaluate("document.activeElement.closest('th').ariaSort")

    before, after, said = browse(sort)
    assert before == ["lenient", "strict", "silent"]
    assert after == ["strict", "lenient", "silent"]
    assert said == "descending"


def test_the_first_tab_leads_to_the_numbers(browse):
    async def tab_once(tab):
        await tab.press("Tab")
        return await tab.evaluate(
            "[document.activeElement.textContent, document.activeElement.getBoundingClientRect().left >= 0]"
        )

    assert browse(tab_once) == ["Skip to the numbers", True]
