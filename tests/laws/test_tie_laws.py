"""What ties="expected" gives is the mean over all orders of the tied documents, counted out."""

from itertools import groupby, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.readers.trec import RANKING, read_trec
from calibrant.retrieval import measure

TEXTS = [
    *["P@1", "P@3", "R@3", "F1@3", "AP", "AP@3", "RR", "RR@2", "nDCG", "nDCG@3", "nDCG(gain=exponential)@2"],
    *["hit@1", "hit@3", "Rprec", "bpref", "RBP(p=0.7)", "RBP@2", "judged@2", "SetP", "SetR", "SetF1", "AP(rel=2)"],
]
DOCUMENTS = [f"d{number}" for number in range(6)]
QRELS = st.dictionaries(st.sampled_from([*DOCUMENTS, "e", "f"]), st.integers(-1, 3), min_size=1)
RUN = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.0, 1.0, 2.0]), min_size=1)


def orders(run):
    """Every order of the documents that their scores allow."""
    by_score = sorted(run, key=run.get, reverse=True)
    tied = [list(permutations(group)) for _, group in groupby(by_score, key=run.get)]
    return [[document for group in choice for document in group] for choice in product(*tied)]


@settings(max_examples=60, deadline=None)
@given(QRELS, RUN)
def test_the_expected_value_is_the_mean_over_all_orders(qrels, run):
    expected = measure({"q": qrels}, {"q": run}, TEXTS, ties="expected")
    every = orders(run)
    names = [str(number) for number in range(len(every))]
    counted = measure(dict.fromkeys(names, qrels), dict(zip(names, every, strict=True)), TEXTS)
    for text in TEXTS:
        assert expected.of(text)[0] == pytest.approx(counted.of(text).mean(), abs=1e-12), text


@settings(max_examples=60, deadline=None)
@given(
    QRELS, st.lists(st.tuples(st.sampled_from(DOCUMENTS), st.floats(-5, 5)), min_size=1, unique_by=lambda row: row[0])
)
def test_ties_are_by_document_descending_or_as_given(qrels, rows):
    run = {document: round(score) / 2 for document, score in rows}
    by_id = sorted(sorted(run, reverse=True), key=run.get, reverse=True)
    as_given = sorted(run, key=run.get, reverse=True)
    texts = ["nDCG", "AP", "RR", "bpref"]
    for ties, order in (("trec", by_id), ("given", as_given)):
        scored = measure({"q": qrels}, {"q": run}, texts, ties=ties)
        listed = measure({"q": qrels}, {"q": order}, texts)
        assert scored.per_query == listed.per_query


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcde"), QRELS, min_size=1),
    st.dictionaries(st.sampled_from("abcde"), RUN, min_size=1),
    st.sampled_from(["trec", "expected"]),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_rows_changes_nothing_where_scores_and_ids_decide(qrels, run, ties, random):
    rows = [(query, document, score) for query, found in run.items() for document, score in found.items()]
    whole = measure(qrels, run, TEXTS, ties=ties)
    random.shuffle(rows)
    shuffled = measure(qrels, rows, TEXTS, ties=ties)
    for text in TEXTS:
        assert np.allclose(shuffled.of(text), whole.of(text), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abcde"), QRELS, min_size=1),
    st.dictionaries(st.sampled_from("abcde"), RUN, min_size=1),
    st.booleans(),
    st.integers(20, 200),
)
def test_a_file_read_in_blocks_is_measured_as_the_dict(tmp_path_factory, qrels, run, scattered, size):
    lines = [
        f"{query} Q0 {document} 0 {score} t\n" for query, found in run.items() for document, score in found.items()
    ]
    path = tmp_path_factory.mktemp("run") / "a.run"
    path.write_text("".join(sorted(lines, key=lambda line: line[::-1]) if scattered else lines))
    blocks = [block for rows in [read_trec(path, RANKING, block_bytes=size)] for block in rows]
    assert sum(map(len, blocks)) == len(lines)
    assert measure(qrels, path, TEXTS).per_query == measure(qrels, run, TEXTS).per_query
