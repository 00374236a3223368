"""Judgments that come from files and go back to them."""

import polars as pl
import pytest

from calibrant.errors import InputError
from calibrant.retrieval import HumanEvaluationCollector, HumanJudgment, Qrels, measure, read_qrels

GRADES = {"q1": {"a": 3, "b": 0, "c": 2}, "q2": {"a": 1}}
ROWS = [(query, document, grade) for query, found in GRADES.items() for document, grade in found.items()]


def of(source, **settings):
    collector = HumanEvaluationCollector()
    collector.add_qrels(source, **settings)
    return collector


def forms(folder):
    frame = pl.DataFrame(ROWS, schema=["query", "document", "grade"], orient="row")
    (folder / "qrels.txt").write_text(
        "".join(f"{query}\t0\t{document}\t{grade}\r\n" for query, document, grade in ROWS)
    )
    frame.write_parquet(folder / "qrels.parquet")
    frame.write_csv(folder / "qrels.csv")
    files = [folder / name for name in ("qrels.txt", "qrels.parquet", "qrels.csv")]
    return [GRADES, ROWS, frame, Qrels.of(GRADES), *files, str(files[0])]


def test_qrels_of_every_form_come_in_as_judgments_and_go_out_as_they_were(tmp_path):
    for source in forms(tmp_path):
        collector = of(source)
        assert collector.to_qrels() == GRADES
        assert len(collector.judgments) == len(ROWS)
        assert {one.annotator for one in collector.judgments} == {"qrels"}


def test_what_goes_out_is_read_again_by_the_kernel(tmp_path):
    path = tmp_path / "out.qrels"
    path.write_text(of(GRADES).to_trec())
    assert read_qrels(path).to_dict() == GRADES
    assert measure(path, {"q1": ["b", "a"], "q2": ["a"]}, "RR").of("RR").tolist() == [0.5, 1.0]


def test_two_assessors_files_agree_as_their_judgments_do():
    collector = of({"q": {"a": 3, "b": 0, "c": 1, "d": 0}}, annotator="first")
    collector.add_qrels({"q": {"a": 3, "b": 1, "c": 1, "d": 0}}, annotator="second")
    # by hand: 3 of 4 agree; expected (2 * 1 + 1 * 2 + 1 * 1) / 16 = 5/16; (12/16 - 5/16) / (11/16)
    assert collector.compute_agreement() == pytest.approx(7 / 11)
    assert collector.to_qrels() == {"q": {"a": 3, "b": 0, "c": 1, "d": 0}}
    assert collector.compute_metrics() == {
        "mean_relevance": 9 / 8,
        "agreement": pytest.approx(7 / 11),
        "num_judgments": 8,
        "num_annotators": 2,
        "num_queries": 1,
    }


def test_an_assessor_who_judges_again_corrects_the_file():
    collector = of(GRADES, annotator="kim")
    collector.add_judgment(HumanJudgment(query="q1", item_id="b", relevance=2, annotator="kim"))
    assert collector.to_qrels()["q1"]["b"] == 2
    assert collector.to_dataset().samples[0].relevant_ids == ["a", "b", "c"]
    assert len(collector.judgments) == len(ROWS) + 1


@pytest.mark.parametrize(
    ("grades", "problem"),
    [
        ({"q": {"a": -1}}, "document 'a' of query 'q' has the grade -1"),
        ({"q": {"a": 4}}, "document 'a' of query 'q' has the grade 4"),
        ({"q": {"a": 1.5}}, "document 'a' of query 'q' has the grade 1.5"),
    ],
)
def test_grades_that_no_judgment_has_are_refused_and_nothing_is_added(grades, problem):
    collector = of(GRADES)
    with pytest.raises(InputError) as raised:
        collector.add_qrels({"fine": {"a": 1}, **grades})
    assert str(raised.value) == (f"qrels with grades that are no whole numbers from 0 to 3 has 1 problem:\n  {problem}")
    assert collector.to_qrels() == GRADES


def test_questions_need_ids_that_trec_text_can_hold():
    collector = of({"Where is it?": {"a": 1}, "q2": {"b c": 2}})
    with pytest.raises(InputError) as raised:
        collector.to_trec()
    assert str(raised.value).splitlines()[1:] == [
        "  query 'Where is it?' needs an id without white space; pass query_ids={text: id}",
        "  document 'b c' has white space in its id",
    ]
    named = of({"Where is it?": {"a": 1}, "q2": {"b": 2}})
    assert named.to_trec({"Where is it?": "q1"}) == "q1 0 a 1\nq2 0 b 2\n"
    with pytest.raises(InputError, match="two queries would have one id"):
        named.to_trec({"Where is it?": "q2"})


def test_nobodys_judgments_are_no_text():
    assert HumanEvaluationCollector().to_trec() == ""
    assert HumanEvaluationCollector().to_qrels() == {}


def test_agreement_is_an_estimate_with_interval_and_coverage():
    collector = of({"q": {f"d{row}": row % 4 for row in range(24)}}, annotator="first")
    collector.add_qrels({"q": {f"d{row}": (row + (row % 5 == 0)) % 4 for row in range(24)}}, annotator="second")
    found = collector.agreement(seed=3, resamples=300)
    assert list(found) == ["kappa", "weighted_kappa", "alpha"]
    for estimate in found.values():
        assert -1 <= estimate.lower <= estimate.value <= estimate.upper <= 1
        assert estimate.n == 24
    assert found["kappa"].value == pytest.approx(collector.compute_agreement())
    assert found == collector.agreement(seed=3, resamples=300)
    wider = collector.agreement(seed=3, resamples=300, level=0.99)["kappa"]
    assert wider.upper - wider.lower > found["kappa"].upper - found["kappa"].lower
