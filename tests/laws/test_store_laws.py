"""Whatever record is put into a workspace comes out of it as it was, or is refused aloud."""

import asyncio
import tempfile
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.errors import CODES, StoreError
from calibrant.ratings import Failure, Rating, Usage
from calibrant.store import CallRecord, ItemRecord, LabelRecord, Workspace

FAILING = sorted(code for code, about in CODES.items() if about.status == "failed")
# Every text that is Unicode; NUL and quotes too.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = texts.filter(bool)
# What a provider's JSON may hold: half of a surrogate pair is one of its texts.
numbers = st.one_of(st.integers(-(2**80), 2**80), st.floats(allow_nan=False, allow_infinity=False))
plain = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=10)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
values = st.one_of(
    st.booleans(), st.floats(allow_nan=False, allow_infinity=False), texts, st.frozensets(texts, max_size=3)
)
usages = st.builds(
    Usage,
    calls=st.integers(0, 9),
    input_tokens=st.integers(0, 10**9),
    usd=st.one_of(st.none(), st.floats(0, 1e6)),
)
rated = partial(st.builds, Rating, item=names, criterion=names, rater=names, instrument=texts, slot=st.integers(0, 9))
ratings = st.one_of(
    rated(status=st.just("rated"), value=values, explanation=texts, usage=usages, role=st.just("vote")),
    rated(
        status=st.just("failed"),
        failure=st.builds(
            Failure,
            code=st.sampled_from(FAILING),
            message=texts,
            retryable=st.booleans(),
        ),
        call_keys=st.lists(texts, max_size=2).map(tuple),
    ),
)
few = settings(max_examples=40, deadline=None)


@few
@given(st.dictionaries(names, st.tuples(names, st.dictionaries(texts, plain), plain), min_size=1, max_size=5))
def test_calls_come_back_as_they_were_written_in_the_order_of_their_keys(written):
    records = [CallRecord(key=key, model=m, request=q, reply={"data": a}) for key, (m, q, a) in written.items()]
    with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
        workspace.add_calls(records)
        workspace.flush()
        assert list(workspace.calls()) == sorted(records, key=lambda record: record.key.encode())
        assert [workspace.call(record.key) for record in records] == records
        assert workspace.check() == []


@few
@given(st.lists(ratings, max_size=6), st.booleans())
def test_ratings_come_back_in_their_order_and_the_last_of_a_place_stays(written, asynchronously):
    with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
        if asynchronously:
            asyncio.run(workspace.put_ratings("r", written))
        else:
            workspace.add_ratings("r", written)
            workspace.flush()
        # A place is said again: what was said before is replaced, and the new one comes last.
        last = dict[tuple, Rating]()
        for one in written:
            place = (one.item, one.criterion, one.rater, one.slot, one.role)
            last.pop(place, None)
            last[place] = one
        assert list(workspace.ratings("r")) == list(last.values())
        assert list(workspace.ratings("another")) == []
        assert workspace.check() == []


@few
@given(st.lists(st.tuples(names, st.one_of(st.none(), texts), st.dictionaries(texts, plain)), max_size=5))
def test_items_come_back_in_the_order_of_the_dataset(rows):
    items = [ItemRecord(position=n, item=i, cluster=c, data=d) for n, (i, c, d) in enumerate(rows)]
    with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
        workspace.add_items("r", reversed(items))
        workspace.flush()
        assert list(workspace.items("r")) == items
        assert workspace.check() == []


@few
@given(st.dictionaries(st.tuples(names, names, names), st.tuples(values, texts), max_size=6))
def test_labels_come_back_by_item_criterion_and_person(written):
    labels = [
        LabelRecord(item=i, criterion=c, annotator=a, value=value, note=note)
        for (i, c, a), (value, note) in written.items()
    ]
    with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
        workspace.put_labels(labels)
        expected = sorted(labels, key=lambda one: (one.item.encode(), one.criterion.encode(), one.annotator.encode()))
        assert list(workspace.labels()) == expected
        for criterion in {one.criterion for one in labels}:
            assert list(workspace.labels(criterion=criterion)) == [
                one for one in expected if one.criterion == criterion
            ]


@few
@given(st.lists(ratings, max_size=4), st.text("abc", min_size=1, max_size=8))
def test_without_texts_no_word_of_an_explanation_or_a_message_is_on_the_disk(written, word):
    secret = f"secret-{word}-words"
    spoken = [
        Rating(item="i", criterion="c", rater="r", instrument="", slot=slot, status="rated", value=1.0)
        for slot in range(3)
    ]
    with tempfile.TemporaryDirectory() as folder, Workspace(folder, store_text=False) as workspace:
        workspace.add_ratings("r", written)
        workspace.add_ratings("s", [Rating(**{**_fields(one), "explanation": secret}) for one in spoken])
        workspace.add_calls([CallRecord(key="k", model="m", request={"q": secret}, reply={"text": secret})])
        workspace.add_items("s", [ItemRecord(position=0, item="i", data={"query": secret})])
        workspace.flush()
        on_disk = b"".join(path.read_bytes() for path in workspace.path.parent.iterdir())
        assert secret.encode() not in on_disk
        assert [one.value for one in workspace.ratings("s")] == [1.0] * 3


def _fields(rating):
    return {name: getattr(rating, name) for name in ("item", "criterion", "rater", "instrument", "slot")} | {
        "status": "rated",
        "value": rating.value,
    }


@few
@given(st.lists(st.sampled_from(["good", "\ud800", "other"]), min_size=1, max_size=8))
def test_one_row_that_cannot_be_kept_does_not_take_its_neighbours_with_it(items):
    async def all_at_once(workspace):
        puts = [
            workspace.put_ratings(
                f"run {place}",
                [Rating(item=item, criterion="c", rater="r", instrument="", status="rated", value=1.0)],
            )
            for place, item in enumerate(items)
        ]
        return await asyncio.gather(*puts, return_exceptions=True)

    with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
        ended = asyncio.run(all_at_once(workspace))
        kept = [len(list(workspace.ratings(f"run {place}"))) for place in range(len(items))]
    assert [isinstance(one, StoreError) for one in ended] == [item == "\ud800" for item in items]
    assert kept == [int(item != "\ud800") for item in items]


def test_what_was_queued_and_could_not_be_kept_is_told_once_at_the_next_flush(tmp_path):
    wrong = Rating(item="\ud800", criterion="c", rater="r", instrument="", status="rated", value=1.0)
    with Workspace(tmp_path) as workspace:
        workspace.add_ratings("run", [wrong])
        with pytest.raises(StoreError, match=r"cannot keep what was to be written to ratings \(1 rows .* 'run'\)"):
            workspace.flush()
        workspace.flush()


def test_what_was_queued_and_could_not_be_kept_is_told_at_the_end_at_the_latest(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.add_items("run", [ItemRecord(position=2**70, item="i", data={})])
    with pytest.raises(StoreError, match="items .* OverflowError: Python int too large"):
        workspace.close()
    workspace.close()


@pytest.mark.parametrize("value", [{}, object(), 2**70])
def test_a_value_of_no_sql_type_is_refused_and_the_workspace_goes_on(tmp_path, value):
    with Workspace(tmp_path) as workspace:
        with pytest.raises(StoreError, match="cannot keep what was to be written to labels"):
            workspace.put_labels([LabelRecord(item=value, criterion="c", annotator="a", value=1.0)])
        workspace.put_labels([LabelRecord(item="i", criterion="c", annotator="a", value=1.0)])
        assert len(list(workspace.labels())) == 1


def test_a_workspace_that_was_read_and_closed_says_that_it_is_closed(tmp_path):
    workspace = Workspace(tmp_path)
    assert workspace.call("k") is None
    workspace.close()
    with pytest.raises(StoreError, match=r"the workspace .* is closed"):
        workspace.call("k")
