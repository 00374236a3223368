"""A user's way through: people judge, two retrievers answer, and every door gives the same numbers."""

import json

import pytest

from calibrant.cli import main
from calibrant.retrieval import (
    ABTestRunner,
    HumanEvaluationCollector,
    HumanJudgment,
    PipelineEvaluator,
    compare_rankings,
    measure,
)
from calibrant.retrieval.batch import BatchEvaluator

LIBRARY = {
    "hours": "we open at nine and close at six",
    "parking": "parking is behind the house and costs nothing",
    "refund": "a refund takes five days",
    "delivery": "delivery takes two days and costs five",
    "contact": "call us from nine to six",
    "returns": "returns cost nothing within thirty days",
}
QUESTIONS = {
    "when-open": ("when do you open and close", {"hours": (3, 3), "contact": (1, 2), "refund": (0, 0)}),
    "parking": ("what does parking cost", {"parking": (3, 3), "delivery": (0, 1), "hours": (0, 0)}),
    "refund": ("how many days does a refund take", {"refund": (3, 3), "returns": (2, 1), "delivery": (0, 0)}),
    "return": ("may I return it within thirty days", {"returns": (3, 2), "refund": (1, 1), "hours": (0, 0)}),
    "deliver": ("when is delivery", {"delivery": (3, 3), "hours": (0, 0), "contact": (1, 0)}),
    "call": ("until when may I call", {"contact": (3, 3), "hours": (2, 2), "parking": (0, 0)}),
}


def by_words(query, top_k):
    words = set(query.split())
    scored = {name: len(words & set(text.split())) for name, text in LIBRARY.items()}
    return sorted(scored, key=lambda name: (-scored[name], name))[:top_k]


async def by_name(query, top_k):
    return sorted(LIBRARY)[:top_k]


@pytest.fixture
def judged():
    collector = HumanEvaluationCollector()
    collector.add_judgments(
        HumanJudgment(query=question, item_id=document, relevance=grade, annotator=who)
        for question, documents in QUESTIONS.values()
        for document, grades in documents.items()
        for who, grade in zip(("kim", "lee"), grades, strict=True)
    )
    return collector


@pytest.fixture
def files(tmp_path, judged, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ids = {question: name for name, (question, _) in QUESTIONS.items()}
    (tmp_path / "qrels.txt").write_text(judged.to_trec(ids))
    for name, found in (("words", by_words), ("names", lambda query, top_k: sorted(LIBRARY)[:top_k])):
        rows = [
            f"{ids[question]} Q0 {document} {rank} {1 / rank!r} {name}\n"
            for question in ids
            for rank, document in enumerate(found(question, 5), 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    return tmp_path


def test_people_agree_and_their_judgments_are_a_dataset(judged):
    assert 0.5 < judged.compute_agreement() < 1
    dataset = judged.to_dataset(threshold=2)
    assert {one.query: one.relevant_ids for one in dataset.samples}["until when may I call"] == ["contact", "hours"]
    assert len(dataset.samples) == len(QUESTIONS)


def test_the_batch_and_the_kernel_give_the_same_means(judged, files):
    dataset = judged.to_dataset(threshold=2)
    batch = BatchEvaluator(PipelineEvaluator(), by_words, top_k=5).evaluate(dataset, k=5)
    kernel = measure("qrels.txt", "words.run", ["P(rel=2)@5", "R(rel=2)@5", "RR(rel=2)@5", "hit(rel=2)@5"])
    means = [kernel[text].value for text in kernel.measures]
    assert [batch.mean_precision, batch.mean_recall, batch.mean_mrr, batch.mean_hit_rate] == pytest.approx(means)


def test_the_ab_test_and_the_comparison_find_the_same_difference(judged, files):
    result = ABTestRunner(PipelineEvaluator(), judged.to_dataset()).run(by_name, by_words, k=5, metric="mrr")
    comparison = compare_rankings("qrels.txt", ["names.run", "words.run"], "RR(rel=2)@5")
    pair = comparison.pair("names", "words")
    assert pair.compared.difference.value == pytest.approx(result.per_metric_comparison["mrr"]["delta"])
    assert pair.compared.t.p_value == pytest.approx(result.p_value)
    assert pair.compared.randomisation.p_value == pytest.approx(result.randomisation_p_value)
    assert (pair.compared.wins, pair.compared.losses) == tuple(
        result.per_metric_comparison["mrr"][name] for name in ("wins", "losses")
    )
    assert result.winner == ("b" if pair.is_significant else "tie")


def test_the_command_prints_what_python_gives(files, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["retrieval", "compare", "qrels.txt", "names.run", "words.run", "-m", "nDCG@5", "-m", "RR", "--json"])
    assert stopped.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    comparison = compare_rankings("qrels.txt", ["names.run", "words.run"], ["nDCG@5", "RR"])
    assert printed["comparison"] == json.loads(json.dumps(comparison.to_json()["comparison"]))
    assert printed["rankings"] == json.loads(json.dumps(comparison.to_json()["rankings"]))


def test_what_nobody_judged_is_said(files):
    comparison = compare_rankings("qrels.txt", ["names.run", "words.run"], ["P(rel=2)@3", "judged@3"])
    assert measure("qrels.txt", "words.run", "judged@3")["judged@3"].value < 1
    pair = comparison.pair("names", "words", "P(rel=2)@3")
    assert pair.unjudged[0] < pair.compared.difference.value < pair.unjudged[1]
    warned = any(warning.startswith("P(rel=2)@3: words - names is ") for warning in comparison.warnings)
    assert warned is pair.depends_on_unjudged
