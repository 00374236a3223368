"""Groups as padded rows, and what is found by sorting them: equal hashes, and the order by query and hash."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.retrieval.duplicates import hash_order, without_duplicates
from calibrant.retrieval.grouped import Grouped, padded_rows

LENGTHS = st.lists(st.integers(0, 40), max_size=12)


def starts_of(lengths):
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


@given(LENGTHS)
def test_padded_rows_hold_every_place_once_and_at_most_as_much_padding(lengths):
    starts = starts_of(lengths)
    parts = list(padded_rows(starts[:-1], np.diff(starts)))
    places = [place for rows, inside in parts for place in rows[inside].tolist()]
    assert sorted(places) == list(range(int(starts[-1])))
    for rows, inside in parts:
        assert (inside.sum(axis=1) * 2 > rows.shape[1]).all()
        for row, own in zip(rows, inside, strict=True):
            assert (np.diff(row[own]) == 1).all()


@pytest.mark.parametrize("step", [1, 2**40])  # the first differ in their last bits alone
@given(lengths=LENGTHS, seed=st.integers(0, 99))
def test_the_order_by_hash_is_that_of_sorting(step, lengths, seed):
    starts = starts_of(lengths)
    steps = np.random.default_rng(seed).permutation(2**10)[: int(starts[-1])].astype(np.uint64)
    hashes = np.uint64(2**64 - 1) - steps * np.uint64(step)
    codes = np.repeat(np.arange(len(lengths)), lengths)
    assert hash_order(hashes, starts).tolist() == np.lexsort((hashes, codes)).tolist()


@pytest.mark.parametrize("policy", ["first", "last"])
@given(rows=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), max_size=6))
def test_a_document_that_comes_twice_is_found_in_queries_of_any_length(policy, rows):
    documents = [document for row in rows for document in row]
    given = Grouped(
        tuple(map(str, range(len(rows)))),
        starts_of([len(row) for row in rows]),
        pl.Series(documents, dtype=pl.String),
        np.arange(float(len(documents))),
    )
    kept = without_duplicates(given, policy, "run")
    wanted = [list(dict.fromkeys(row)) for row in rows]
    if policy == "last":
        wanted = [list(dict.fromkeys(row[::-1]))[::-1] for row in rows]
    found = [kept.documents[int(a) : int(b)].to_list() for a, b in zip(kept.starts, kept.starts[1:], strict=False)]
    assert found == wanted
