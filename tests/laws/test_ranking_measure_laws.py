"""What holds of every ranking and every measure, whatever the numbers."""

import gzip

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.retrieval import Conventions, Qrels, Ranking, compare_rankings, measure
from calibrant.retrieval.judged import JudgedIndex, judged_ranks
from calibrant.retrieval.order import counts_above

TEXTS = [
    *["P@1", "P@5", "P", "R@3", "R", "F1@4", "AP", "AP@3", "RR", "RR@2", "nDCG", "nDCG@3", "hit@2", "Success@4"],
    *["nDCG(gain=exponential)", "Rprec", "bpref", "RBP(p=0.8)", "RBP(p=0.5)@3", "judged@4", "SetP", "SetR", "SetF1"],
]
TOP_HEAVY = ["AP", "RR", "nDCG", "nDCG@3", "nDCG(gain=exponential)", "RBP(p=0.8)", "P@3", "R@3", "hit@2", "bpref"]
DOCUMENTS = [f"d{number}" for number in range(12)]
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1)
LISTS = st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1)
SCORES = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0]), min_size=1)
QUERIES = st.sampled_from(["q1", "q2", "q3", "č"])
MANY_GRADES, MANY_SCORES = (st.dictionaries(QUERIES, inner, min_size=1) for inner in (GRADES, SCORES))


def values(qrels, ranking, texts=TEXTS, **policies):
    return measure({"q": qrels}, {"q": ranking}, texts, **policies).per_query["q"]


@settings(max_examples=60, deadline=None)
@given(GRADES, SCORES, st.sampled_from(["trec", "given", "expected"]))
def test_every_measure_lies_between_0_and_1(qrels, run, ties):
    found = values(qrels, run, ties=ties)
    assert all(-1e-12 <= value <= 1 + 1e-12 for value in found.values()), found


@settings(max_examples=40, deadline=None)
@given(GRADES)
def test_the_best_order_of_all_judged_documents_has_1_where_anything_is_relevant(qrels):
    best = sorted(qrels, key=lambda document: -qrels[document])
    found = values(qrels, best, ["nDCG", "nDCG@2", "AP", "RR", "Rprec", "bpref", "R", "nDCG(gain=exponential)"])
    wanted = 1.0 if max(qrels.values()) >= 1 else 0.0
    assert list(found.values()) == pytest.approx([wanted] * len(found))


@settings(max_examples=60, deadline=None)
@given(GRADES, LISTS, st.data())
def test_a_better_document_moved_up_past_a_worse_one_never_lowers_a_measure(qrels, ranking, data):
    place = data.draw(st.integers(0, max(len(ranking) - 2, 0)))
    grades = [qrels.get(document, 0) for document in ranking]
    if len(ranking) < 2 or max(grades[place + 1], 0) <= max(grades[place], 0):
        return
    moved = [*ranking[:place], ranking[place + 1], ranking[place], *ranking[place + 2 :]]
    before, after = values(qrels, ranking, TOP_HEAVY), values(qrels, moved, TOP_HEAVY)
    assert all(after[text] >= before[text] - 1e-12 for text in TOP_HEAVY), (before, after)


@settings(max_examples=40, deadline=None)
@given(GRADES, LISTS, st.integers(1, 5))
def test_unjudged_documents_at_the_end_change_only_what_counts_the_retrieved(qrels, ranking, more):
    longer = [*ranking, *(f"u{number}" for number in range(more))]
    texts = [text for text in TEXTS if text not in {"P", "SetP", "SetF1", "judged@4"}]
    assert values(qrels, longer, texts) == pytest.approx(values(qrels, ranking, texts))


@settings(max_examples=40, deadline=None)
@given(GRADES, SCORES, st.floats(0.001, 1e6), st.floats(-1e3, 1e3))
def test_only_the_order_of_scores_counts(qrels, run, factor, shift):
    ranked = {score: rank for rank, score in enumerate(sorted(set(run.values())))}
    changed = {document: ranked[score] * factor + shift for document, score in run.items()}
    if len(set(changed.values())) == len(ranked):
        assert values(qrels, changed) == values(qrels, run)


@settings(max_examples=40, deadline=None)
@given(MANY_GRADES, MANY_SCORES)
def test_a_query_is_measured_alike_alone_and_among_others(qrels, run):
    together = measure(qrels, run, TEXTS)
    for query, grades in qrels.items():
        alone = measure({query: grades}, run, TEXTS)
        assert together.per_query[query] == pytest.approx(alone.per_query[query], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(MANY_GRADES, MANY_SCORES)
def test_the_mean_is_over_the_queries_and_coverage_adds_up(qrels, run):
    everything, shared = measure(qrels, run, TEXTS), measure(qrels, run, TEXTS, queries="intersection")
    assert everything["AP"].n == len(qrels)
    assert shared["AP"].n + shared["AP"].coverage.skipped == len(qrels)
    assert everything["AP"].value == pytest.approx(np.mean([found["AP"] for found in everything.per_query.values()]))
    assert set(everything.queries) == set(qrels)
    assert set(shared.queries) == set(qrels) & set(run)


@settings(max_examples=30, deadline=None)
@given(MANY_GRADES, MANY_SCORES)
def test_every_form_of_the_same_rows_measures_alike(tmp_path_factory, qrels, run):
    folder = tmp_path_factory.mktemp("forms")
    rows = [(query, document, score) for query, found in run.items() for document, score in found.items()]
    frame = pl.DataFrame(rows, schema=["qid", "docno", "score"], orient="row")
    text = "".join(f"{query} Q0 {document} 0 {score!r} t\n" for query, document, score in rows)
    frame.write_parquet(folder / "a.parquet")
    frame.write_csv(folder / "a.csv")
    (folder / "a.run").write_bytes(text.replace(" ", "\t").replace("\n", "\r\n").encode())
    (folder / "a.run.gz").write_bytes(gzip.compress(text.encode()))
    wanted = measure(qrels, run, TEXTS).per_query
    forms = [rows, frame, *(folder / name for name in ("a.parquet", "a.csv", "a.run", "a.run.gz"))]
    assert all(measure(qrels, form, TEXTS).per_query == wanted for form in forms)


@settings(max_examples=60, deadline=None)
@given(GRADES, LISTS, st.data())
def test_judging_what_was_unjudged_stays_within_the_residual_of_rbp(qrels, ranking, data):
    unjudged = [document for document in ranking if document not in qrels]
    relevant = data.draw(st.lists(st.sampled_from(unjudged), unique=True)) if unjudged else []
    before = measure({"q": qrels}, {"q": ranking}, "RBP(p=0.8)")
    after = measure({"q": {**qrels, **dict.fromkeys(relevant, 1)}}, {"q": ranking}, "RBP(p=0.8)")
    gained = after.of("RBP(p=0.8)")[0] - before.of("RBP(p=0.8)")[0]
    assert -1e-12 <= gained <= before.residual("RBP(p=0.8)")[0] + 1e-12


@settings(max_examples=60, deadline=None)
@given(GRADES, LISTS, st.sampled_from(["P@3", "RR", "RR@2", "AP", "R@4", "nDCG", "hit@1", "SetP", "F1@3", "Rprec"]))
def test_the_residual_is_what_the_first_k_would_gain_were_they_all_relevant(qrels, ranking, text):
    seen = ranking[: int(text.partition("@")[2] or len(ranking))]
    grade = max(1, *qrels.values()) if text == "nDCG" else 1
    filled = {**qrels, **{document: grade for document in seen if document not in qrels}}
    before = measure({"q": qrels}, {"q": ranking}, text)
    gained = measure({"q": filled}, {"q": ranking}, text).of(text)[0] - before.of(text)[0]
    assert before.residual(text)[0] == pytest.approx(max(gained, 0.0), abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 1e300, -5.0]), max_size=8), min_size=1), st.booleans())
def test_counts_of_higher_and_equal_scores_are_as_counted_out(queries, is_sorted):
    queries = [sorted(found, reverse=True) if is_sorted else found for found in queries]
    scores = np.array([score for found in queries for score in found], dtype=np.float64)
    starts = np.concatenate(([0], np.cumsum([len(found) for found in queries])))
    segments = np.repeat(np.arange(len(queries)), [len(found) for found in queries])
    above, equal = counts_above(scores, starts, np.arange(len(scores)), segments)
    wanted = [(sum(o > s for o in found), sum(o == s for o in found)) for found in queries for s in found]
    assert list(zip(above.tolist(), equal.tolist(), strict=True)) == wanted


@settings(max_examples=60, deadline=None)
@given(MANY_GRADES, MANY_SCORES)
def test_what_is_judged_is_what_a_lookup_finds(qrels, run):
    known = Qrels.of(qrels)
    judged = judged_ranks(Ranking.of(run), JudgedIndex(known), Conventions())
    found = sorted(zip([known.queries[code] for code in judged.queries], judged.grades.tolist(), strict=True))
    wanted = sorted(
        (query, float(qrels[query][document]))
        for query in run
        for document in run[query]
        if document in qrels.get(query, {})
    )
    assert found == wanted
    assert judged.unknown == len(set(run) - set(qrels))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(LISTS, LISTS), min_size=2, max_size=8), GRADES)
def test_the_order_of_systems_turns_the_differences_round(lists, qrels):
    judged = {str(number): qrels for number in range(len(lists))}
    a, b = ({str(number): pair[side] for number, pair in enumerate(lists)} for side in (0, 1))
    forth, back = (
        compare_rankings(judged, order, ["nDCG"], resamples=200).pairs[0]
        for order in ({"a": a, "b": b}, {"b": b, "a": a})
    )
    assert forth.compared.difference.value == pytest.approx(-back.compared.difference.value, abs=1e-12)
    assert forth.p_corrected == pytest.approx(back.p_corrected)
    assert (forth.compared.wins, forth.compared.losses) == (back.compared.losses, back.compared.wins)
    assert forth.unjudged == pytest.approx((-back.unjudged[1], -back.unjudged[0]), abs=1e-12)
    assert forth.unjudged[0] <= forth.compared.difference.value + 1e-12
