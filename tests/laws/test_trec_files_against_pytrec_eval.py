"""Files as pytrec_eval reads them, measured as pytrec_eval measures them, and the other way round."""

import gzip
import io

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.retrieval import measure, read_qrels, read_ranking

PAIRS = {"AP": "map", "RR": "recip_rank", "nDCG": "ndcg", "nDCG@5": "ndcg_cut_5", "P@5": "P_5", "bpref": "bpref"}
NAMES = {"map", "recip_rank", "ndcg", "ndcg_cut", "P", "bpref"}
QUERIES = st.sampled_from(["301", "q2", "č-3"])
DOCUMENTS = st.sampled_from(["FBIS3-1", "FR94-2", "LA-3", "é", "a,b", '"x"', "10", "9"])
SCORES = st.one_of(
    st.floats(-1e3, 1e3, width=32).map(repr),
    st.floats(-100, 100, allow_subnormal=False).map(lambda score: f"{score:.17g}"),
    st.sampled_from(["1e-3", "2.5E+01", "-7", "0", "00.50"]),
)
RUNS = st.dictionaries(st.tuples(QUERIES, DOCUMENTS), SCORES, min_size=1)
GRADES = st.dictionaries(st.tuples(QUERIES, DOCUMENTS), st.integers(0, 3), min_size=1)
PARSERS = (pytrec_eval.parse_qrel, pytrec_eval.parse_run)
GAPS = st.sampled_from([" ", "\t", "  ", " \t "])


@st.composite
def files(draw):
    """The text of qrels and of a ranking, their rows in any order and with any white space."""
    gap = draw(GAPS)
    run, grades = draw(RUNS), draw(GRADES)
    rows = [gap.join([query, "Q0", document, "1", score, "tag"]) for (query, document), score in run.items()]
    judged = [gap.join([query, "0", document, str(grade)]) for (query, document), grade in grades.items()]
    return "\n".join([*draw(st.permutations(judged)), ""]), "\n".join([*draw(st.permutations(rows)), ""])


@settings(max_examples=80, deadline=None)
@given(files(), st.booleans())
def test_a_file_is_read_and_measured_as_by_pytrec_eval(tmp_path_factory, texts, is_packed):
    folder = tmp_path_factory.mktemp("files")
    for name, text in zip(("qrels.txt", "a.run"), texts, strict=True):
        content = text.encode()
        (folder / name).write_bytes(gzip.compress(content) if is_packed else content)
    qrels, run = (parse(io.StringIO(text)) for parse, text in zip(PARSERS, texts, strict=True))
    theirs = pytrec_eval.RelevanceEvaluator(qrels, NAMES).evaluate(run)
    ours = measure(folder / "qrels.txt", folder / "a.run", list(PAIRS), conventions="pytrec_eval")
    assert set(ours.queries) == set(theirs)
    for query, values in ours.per_query.items():
        for text, name in PAIRS.items():
            assert values[text] == pytest.approx(theirs[query][name], abs=1e-12), (query, text)


@settings(max_examples=40, deadline=None)
@given(files())
def test_qrels_and_rankings_hold_what_pytrec_eval_reads(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels.txt").write_text(texts[0])
    (folder / "a.run").write_text(texts[1])
    qrels, run = (parse(io.StringIO(text)) for parse, text in zip(PARSERS, texts, strict=True))
    assert read_qrels(folder / "qrels.txt").to_dict() == qrels
    ranking = read_ranking(folder / "a.run")
    spans = zip(ranking.queries, ranking.starts[:-1].tolist(), ranking.starts[1:].tolist(), strict=True)
    documents, scores = ranking.documents.to_list(), ranking.scores.tolist()
    assert {query: dict(zip(documents[a:b], scores[a:b], strict=True)) for query, a, b in spans} == run


@settings(max_examples=40, deadline=None)
@given(files())
def test_double_scores_differ_from_pytrec_eval_only_where_float32_makes_ties(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels.txt").write_text(texts[0])
    (folder / "a.run").write_text(texts[1])
    single, double = (
        measure(folder / "qrels.txt", folder / "a.run", list(PAIRS), score_dtype=kind)
        for kind in ("float32", "float64")
    )
    run = pytrec_eval.parse_run(io.StringIO(texts[1]))
    for query in single.queries:
        scores = list(run.get(query, {}).values())
        if len(set(np.array(scores, dtype=np.float32).tolist())) == len(set(scores)):
            assert single.per_query[query] == double.per_query[query]
