from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from calibrant import EvalInput
from calibrant.errors import InputError, WrongTypeError
from calibrant.retrieval import Qrels, Ranking, measure, read_qrels, read_ranking

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"b": 0.5, "a": 0.25}, "q2": {"x": 3.0, "c": 2.0}}
WANTED = {"q1": {"RR": 0.5}, "q2": {"RR": 0.5}}
ROWS = [("q1", "b", 0.5), ("q1", "a", 0.25), ("q2", "x", 3.0), ("q2", "c", 2.0)]
GRADES = [("q1", "a", 2), ("q1", "b", 0), ("q2", "c", 1)]


def frame(rows, number):
    return pl.DataFrame(rows, schema=["query", "document", number], orient="row")


class PandasLike:
    """A frame as pandas shows itself: `columns`, `iloc`, and columns with `to_numpy`."""

    iloc = None

    def __init__(self, columns):
        self.columns = list(columns)
        self._columns = columns

    def __getitem__(self, name):
        return SimpleNamespace(to_numpy=lambda: self._columns[name])


PANDAS = PandasLike(
    {
        "qid": np.array(["q1", "q1", "q2", "q2"], dtype=object),
        "docno": np.array(["b", "a", "x", "c"], dtype=object),
        "score": np.array([0.5, 0.25, 3.0, 2.0]),
    }
)


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        {"q1": ["b", "a"], "q2": ("x", "c")},
        {"q1": [SimpleNamespace(id="b"), SimpleNamespace(id="a")], "q2": ["x", "c"]},
        {"q1": [{"id": "b", "text": "..."}, {"id": "a"}], "q2": ["x", "c"]},
        ROWS,
        [list(row) for row in ROWS],
        [{"query_id": query, "doc_id": document, "score": score} for query, document, score in ROWS],
        [SimpleNamespace(query=query, document=document, score=score) for query, document, score in ROWS],
        [EvalInput(id="q1", retrieved_chunks=["b", "a"]), EvalInput(id="q2", retrieved_chunks=["x", "c"])],
        [{"id": "q1", "retrieved_chunks": ["b", "a"]}, {"id": "q2", "retrieved_chunks": ["x", "c"]}],
        [{"id": "q1", "retrieved_chunks": [{"id": "b"}, {"id": "a"}]}, {"id": "q2", "retrieved_chunks": ["x", "c"]}],
        [row[:2] for row in ROWS],
        frame(ROWS, "score"),
        frame(ROWS, "score").lazy(),
        frame(ROWS, "score").drop("score"),
        frame(ROWS, "score").drop("score").with_columns(rank=pl.Series([1, 2, 1, 2])).reverse(),
        PANDAS,
        Ranking.of(RUN),
    ],
)
def test_a_ranking_is_taken_in_every_shape(run):
    assert measure(QRELS, run, "RR").per_query == WANTED


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS,
        {"q1": ["a"], "q2": {"c"}},
        GRADES,
        [{"query": query, "item_id": document, "relevance": grade} for query, document, grade in GRADES],
        [EvalInput(id="q1", relevant_ids=["a"]), EvalInput(id="q2", relevant_ids=["c"])],
        frame(GRADES, "grade"),
        Qrels.of(QRELS),
    ],
)
def test_qrels_are_taken_in_every_shape(qrels):
    assert measure(qrels, RUN, "RR").per_query == WANTED


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "csv.gz"])
def test_tables_are_read_by_their_ending(tmp_path, ending):
    for name, rows, number in (("qrels", GRADES, "rel"), ("run", ROWS, "score")):
        path = tmp_path / f"{name}.{ending}"
        table = frame(rows, number)
        if ending == "parquet":
            table.write_parquet(path)
        elif ending == "csv.gz":
            path.write_bytes(__import__("gzip").compress(table.write_csv().encode()))
        else:
            table.write_csv(path, separator="\t" if ending == "tsv" else ",")
    result = measure(tmp_path / f"qrels.{ending}", str(tmp_path / f"run.{ending}"), "RR")
    assert result.per_query == WANTED
    assert (result.name, result.qrels) == ("run", "qrels")


def test_trec_files_are_read_whole_when_asked(tmp_path):
    (tmp_path / "bm25.run").write_text("q2 Q0 x 1 3.0 t\nq1 Q0 b 1 5e-1 t\nq2 Q0 c 2 2 t\nq1 Q0 a 2 0.25 t\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 2\nq1 0 b 0\nq2 0 c 1\n")
    ranking, qrels = read_ranking(tmp_path / "bm25.run"), read_qrels(tmp_path / "qrels.txt")
    assert (ranking.name, ranking.queries, ranking.starts.tolist()) == ("bm25", ("q2", "q1"), [0, 2, 4])
    assert qrels.to_dict() == QRELS
    assert measure(qrels, ranking, "RR").per_query == WANTED
    assert measure(qrels, tmp_path / "bm25.run", "RR").per_query == WANTED


def test_whole_number_ids_join_with_texts():
    assert measure({1: {7: 1}}, {"1": {"7": 0.5}}, "RR")["RR"].value == 1.0
    numbers = pl.DataFrame({"query": [1.0, None], "document": [7, 8], "score": [0.5, 0.1]}).head(1)
    assert measure({"1": {"7": 1}}, numbers, "RR")["RR"].value == 1.0


def test_whole_and_other_grades_come_back_as_they_were():
    assert Qrels.of({"q": {"a": 2, "b": 0.5, "c": -1}}).to_dict() == {"q": {"a": 2, "b": 0.5, "c": -1}}


def test_blocks_of_a_ranking_have_whole_queries():
    ranking = Ranking.of({str(query): {str(document): 1.0 * document for document in range(3)} for query in range(10)})
    assert [block.queries for block in ranking.blocks(6)][:2] == [("0", "1"), ("2", "3")]
    assert sum(map(len, ranking.blocks(4))) == len(ranking)


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        ({"q1": {"a": "high"}}, InputError, "query 'q1': expected a number for document 'a', got 'high'"),
        ({"q1": {"a": None}}, InputError, "the score of document 'a' of query 'q1' is not a number"),
        ({"q1": {"": 1.0}}, InputError, "ranking, query 'q1': document is empty"),
        ({"q1": {None: 1.0}}, InputError, "document is a text or a whole number, not None"),
        ({"q1": {"a": 1.0}, "q2": ["b"]}, InputError, "expected a dict of documents for every query, or a list"),
        ({"q1": "abc"}, WrongTypeError, "expected a dict or a list of documents, got 'abc'"),
        (42, WrongTypeError, "ranking: expected a path, a frame, a dict by query or a list of items, not int 42"),
        ([1, 2], WrongTypeError, "ranking: expected items, records or triples, got 1"),
        (pl.DataFrame({"q": ["q1"], "document": ["a"]}), InputError, "ranking has no column 'query' (nor query_id"),
        (pl.DataFrame({"query": ["q1"], "doc": [1.5]}), InputError, "row 1: expected a text or a whole number as the"),
        (
            pl.DataFrame({"query": ["q1", None], "doc": ["a", "b"], "score": ["x", "1"]}),
            InputError,
            "row 1: expected a number as the score, got 'x'",
        ),
        ([EvalInput(id="q", retrieved_chunks=["a"])] * 2, InputError, "two items have the id 'q'; ids are unique"),
        ("nowhere.run", InputError, "there is no ranking file at nowhere.run; give the path of a file that exists"),
    ],
)
def test_what_is_no_ranking_says_what_is_wrong(run, error, message):
    with pytest.raises(error) as raised:
        measure(QRELS, run, "RR")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ({}, "qrels holds no judgments; qrels need at least one query with a judged document"),
        ({"q": {"a": float("nan")}}, "document 'a' of query 'q' has the grade nan"),
        ([("q", "a", 1), ("q", "a", 2)], "query 'q' has document 'a' 2 times; pass on_duplicate="),
        (pl.DataFrame({"query": ["q"], "doc": ["a"]}), "qrels has no column 'grade' (nor relevance, rel, label"),
    ],
)
def test_what_are_no_qrels_says_what_is_wrong(qrels, message):
    with pytest.raises(InputError) as raised:
        measure(qrels, RUN, "RR")
    assert message in str(raised.value)


@pytest.mark.parametrize("grades", [[3, -1, 2], [1e300, 0.5, 2.0], [2**21, 1, 0], [1e19, 1.0, 5.0]])
def test_the_best_order_of_relevant_documents_is_by_grade_within_each_query(grades):
    qrels = Qrels.of({"q": dict(zip("abc", grades, strict=True)), "r": dict(zip("abc", grades[::-1], strict=True))})
    relevant = sorted((grade for grade in grades if grade > 0), reverse=True)
    assert qrels.grades[qrels.by_grade].tolist() == relevant * 2
    assert qrels.codes[qrels.by_grade].tolist() == [0] * len(relevant) + [1] * len(relevant)


@pytest.mark.parametrize(
    ("qrels", "ranking", "message"),
    [
        # A TREC line as a tuple: read by its first three places, document "0" would have grade 12.
        ([("q1", "0", "12", 1)], RUN, r"qrels: expected rows of \(query, document, grade\), got 4 fields"),
        ([("q1", "a")], RUN, r"qrels: expected rows of \(query, document, grade\), got 2 fields"),
        (
            QRELS,
            [("q1", "Q0", "a", 1, 0.5, "t")],
            r"ranking: expected rows of \(query, document, score\), got 6 fields",
        ),
        (QRELS, [("q1", "a"), ("q1", "b", 0.5)], r"row 1: expected a number as the score, got None"),
        (QRELS, [{"query": "q1", "doc": "a"}, {"query": "q1", "doc": "b", "score": 1}], "row 1: expected a number as"),
    ],
)
def test_rows_of_another_shape_are_refused_and_not_read_in_part(qrels, ranking, message):
    with pytest.raises(InputError, match=message):
        measure(qrels, ranking, "RR")


@pytest.mark.parametrize("odd", ["plain", "two\nlines", "\na\n", "end\n", " é\u2028x", 7])
@pytest.mark.parametrize("queries", [3, 300])
def test_many_queries_have_the_documents_that_few_have(odd, queries):
    """Ids of many queries are handed over joined; an id that holds the mark between them is still one id."""
    data = {f"q{number}": {"x": 1.0, "y": 0.5} for number in range(queries)}
    data |= {"q1": {}, "q2": {odd: 2.0, "z": 1.0}}
    found = Ranking.of(data)
    assert found.documents.to_list() == ["x", "y", str(odd), "z"] + ["x", "y"] * (queries - 3)
    assert found.queries == tuple(name for name in data if name != "q1")


@pytest.mark.parametrize(("odd", "said"), [("", "is empty"), (None, "not None"), (0.5, "not 0.5")])
def test_an_id_among_many_queries_that_is_none_is_named(odd, said):
    data = {f"q{number}": {"x": 1.0} for number in range(300)} | {"q7": {odd: 1.0}}
    with pytest.raises(InputError, match=rf"query 'q7': document .*{said}"):
        Ranking.of(data)


def test_many_queries_without_documents_have_no_rows():
    assert len(Ranking.of({f"q{number}": {} for number in range(300)})) == 0
