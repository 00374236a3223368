import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.report.markup import Markup, element, joined
from calibrant.report.page import page, section, table


class Reader(HTMLParser):
    """What a browser would read: the elements that were opened, their attributes, and the text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.opened, self.closed, self.texts, self.attributes = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        self.attributes.append(dict(attrs))

    def handle_endtag(self, tag):
        self.closed.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


def test_every_text_is_escaped_and_markup_is_not():
    assert element("p", "<script>", element("b", "&")) == "<p>&lt;script&gt;<b>&amp;</b></p>"
    assert joined("<", Markup("<br>"), None, 7) == "&lt;<br>7"


def test_attributes_are_escaped_named_and_left_out():
    made = element("a", "x", class_="y", aria_label='"<>', href=None, hidden=True, disabled=False, tabindex=0)
    assert made == '<a class="y" aria-label="&quot;&lt;&gt;" hidden tabindex="0">x</a>'


def test_void_elements_are_not_closed():
    assert element("br") == "<br>"
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_gets_out_of_its_element_or_attribute(text, value):
    found = read(element("p", text, title=value))
    assert found.opened == ["p"]
    assert found.closed == ["p"]
    plain = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "", text)
    assert "".join(found.texts).encode("utf-8", "replace") == plain.encode("utf-8", "replace")


def test_half_a_surrogate_pair_does_not_stop_the_page():
    assert element("p", "a\ud800b").encode("utf-8") == b"<p>a?b</p>"


def sample(*sections, title="Title", **more):
    return page(title, sections or [section("One", element("p", "x"))], **more)


def test_a_page_is_whole_and_well_formed():
    text = sample()
    found = read(text)
    assert text.startswith('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">')
    for tag in ("html", "head", "title", "style", "body", "header", "h1", "main", "section", "h2", "p"):
        assert found.opened.count(tag) == found.closed.count(tag) == 1, tag
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in found.attributes


def test_a_page_asks_nobody_for_anything():
    text = sample()
    assert not re.search(r"(?:src|href)=[\"'](?!#)|@import|url\(|https?:", text)
    policy = next(one["content"] for one in read(text).attributes if one.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src 'none'" in policy
    assert "unsafe" not in policy


def test_a_script_runs_by_its_hash_once_however_many_sections_bring_it():
    import base64
    import hashlib

    script = "document.title = 'x';"
    text = sample(section("One", script=script), section("Two", script=script))
    assert text.count("<script>") == 1
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text.replace("&#x27;", "'")


def test_no_style_stands_on_an_element_since_the_policy_would_drop_it():
    assert not re.search(r"<[^>]+ style=", sample())


def test_light_and_dark_print_and_narrow_screens_are_in_the_style():
    style = sample().partition("<style>")[2].partition("</style>")[0]
    assert "color-scheme: light dark" in style
    assert "light-dark(" in style
    for query in ("@media print", "@media (max-width", "@media (prefers-reduced-motion"):
        assert query in style
    assert "tabular-nums" in style
    assert "system-ui" in style
    assert ":focus-visible" in style


def test_several_sections_get_a_list_and_anchors_of_their_own():
    text = sample(section("A & B"), section("A b"), section("数"), section("数"), section("Numbers"))
    anchors = re.findall(r'<section id="([^"]+)"', text)
    assert anchors == ["a-b", "a-b-2", "section", "section-2", "numbers-2"]
    assert re.findall(r'<a href="#([^"]+)">', text) == anchors
    assert "<nav" not in sample()


def test_the_first_link_leads_past_the_heading():
    text = sample()
    assert '<a class="skip" href="#numbers">Skip to the numbers</a>' in text
    assert '<main id="numbers">' in text


def test_a_title_from_outside_is_text():
    text = sample(section("<i>"), title="</title><script>alert(1)</script>")
    assert "<script" not in text
    assert "<h2>&lt;i&gt;</h2>" in text


def test_a_table_heads_its_columns_and_its_rows():
    drawn = table(["Metric", "n"], [["brief", "3"], [element("b", "x"), None]], label="A <b>", numbers=frozenset({1}))
    found = read(drawn)
    assert found.opened.count("th") == 4
    assert found.opened.count("td") == 2
    assert '<th scope="col" role="columnheader" class="number">n</th>' in drawn
    assert '<th scope="row" role="rowheader">brief</th>' in drawn
    assert 'data-label="n"' in drawn
    assert 'aria-label="A &lt;b&gt;"' in drawn


def test_a_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        table(["Metric", "n"], [["brief"]], label="x")
