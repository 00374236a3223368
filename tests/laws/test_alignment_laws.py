"""What holds of the scorers whatever people and judges said."""

import asyncio
import json
import math

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    CohensKappaScorer,
    TaskAggregationMode,
    TextSimilarityScorer,
)

SCORERS = [AccuracyScorer, CohensKappaScorer, AltTestScorer, TextSimilarityScorer]
AGGREGATIONS = ["individual_average", "majority_vote"]
labels = st.one_of(st.none(), st.sampled_from(["yes", "no", "", "an answer of more words"]))
rows = st.lists(labels, min_size=1, max_size=9)
people = st.dictionaries(st.sampled_from(["kim", "lee", "ann", "bob"]), rows, min_size=1, max_size=4)


def frames(judge, said):
    judged = pl.DataFrame(
        {"original_id": list(range(len(judge))), "label": judge}, schema_overrides={"label": pl.String}
    )
    table = [(item, name, label) for name, row in said.items() for item, label in enumerate(row)]
    schema = {"original_id": pl.Int64, "human_id": pl.String, "label": pl.String}
    return judged, pl.DataFrame(table, schema=schema, orient="row")


def scored(scorer, judge, said, aggregation="individual_average"):
    judged, table = frames(judge, said)
    work = scorer().compute_score_async(judged, table, "t", "judge", TaskAggregationMode.SINGLE, aggregation)
    return asyncio.run(work)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SCORERS), rows, people, st.sampled_from(AGGREGATIONS))
def test_every_scorer_gives_a_finite_number_or_a_reason(scorer, judge, said, aggregation):
    found = scored(scorer, judge, said, aggregation)
    json.dumps(found.to_json(), allow_nan=False)
    assert (found.score is None) == bool(found.reason)
    if found.score is not None:
        assert math.isfinite(found.score)
        assert -1.0 <= found.score <= 1.0
        bounds = next(iter(found.intervals.values()))
        assert bounds["n"] >= 1
        assert bounds["reason"] or bounds["lower"] <= found.score <= bounds["upper"]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SCORERS), rows, people)
def test_the_names_and_the_order_of_people_change_nothing(scorer, judge, said):
    renamed = {f"x{name}": row for name, row in reversed(said.items())}
    first, second = scored(scorer, judge, said).score, scored(scorer, judge, renamed).score
    assert (first is None) == (second is None)
    assert first is None or math.isclose(first, second, abs_tol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([AccuracyScorer, CohensKappaScorer]), rows, people)
def test_new_names_for_labels_change_nothing(scorer, judge, said):
    new = {"yes": "ja", "no": "nein", "": "leer", "an answer of more words": "lang", None: None}
    turned = {name: [new[one] for one in row] for name, row in said.items()}
    first, second = scored(scorer, judge, said).score, scored(scorer, [new[one] for one in judge], turned).score
    assert (first is None) == (second is None)
    assert first is None or math.isclose(first, second, abs_tol=1e-12)


@settings(max_examples=40, deadline=None)
@given(rows, st.sampled_from(AGGREGATIONS))
def test_a_judge_that_says_what_everybody_says_scores_one(judge, aggregation):
    said = dict.fromkeys(["kim", "lee", "ann"], judge)
    for scorer in (AccuracyScorer, CohensKappaScorer, TextSimilarityScorer):
        found = scored(scorer, judge, said, aggregation)
        assert found.score is None or math.isclose(found.score, 1.0, abs_tol=1e-12)


@settings(max_examples=40, deadline=None)
@given(rows, people, rows)
def test_items_that_the_judge_never_saw_change_no_score(judge, said, more):
    longer = {name: [*row, *more] if len(row) == len(judge) else row for name, row in said.items()}
    first, second = scored(AccuracyScorer, judge, said).score, scored(AccuracyScorer, judge, longer).score
    assert (first is None) == (second is None)
    assert first is None or math.isclose(first, second, abs_tol=1e-12)


@settings(max_examples=30, deadline=None)
@given(rows, rows)
def test_with_one_person_both_aggregations_are_one(judge, row):
    for scorer in (AccuracyScorer, TextSimilarityScorer):
        average, vote = (scored(scorer, judge, {"kim": row}, way).score for way in AGGREGATIONS)
        assert (average is None) == (vote is None)
        assert average is None or math.isclose(average, vote, abs_tol=1e-12)


@settings(max_examples=30, deadline=None)
@given(rows, people)
def test_the_most_similar_person_is_at_least_as_near_as_people_are_on_average(judge, said):
    whole = {name: row for name, row in said.items() if len(row) == len(judge) and None not in row}
    if whole and None not in judge:
        average, best = (scored(TextSimilarityScorer, judge, whole, way).score for way in AGGREGATIONS)
        assert best >= average - 1e-12
