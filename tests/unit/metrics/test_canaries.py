"""Items whose verdict is known: the shipped ones, those of a file, and how a metric fares on them."""

import asyncio
import json
import re

import pytest

from calibrant import EvalInput, ScriptedInvoker
from calibrant.errors import InputError, WrongTypeError
from calibrant.metrics import (
    SHIPPED_METRICS,
    Canary,
    CanaryReport,
    FaithfulnessMetric,
    PyTrecMetric,
    RubricMetric,
    ask_canaries,
    canaries_for,
    canary_report,
    metric,
    named_metric,
    read_canaries,
    rubric_names,
    shipped_canaries,
)
from calibrant.metrics.canaries import PREFIX, chosen_canaries

CLAIMS = {
    *("faithfulness", "answer_relevancy", "contextual_precision", "contextual_recall", "contextual_relevancy"),
    *("bias", "toxicity"),
}
WRONG_HOURS = "opens at four"


def level(score):
    return {"explanation": "As I see it.", "score": score}


def knows(request):
    """A judge that sees what is wrong with every canary about groundedness."""
    answer = request.messages[-1].content.rpartition("begin answer]")[2]
    return level(1 if WRONG_HOURS in answer or "antiquity" in answer else 3)


def groundedness(script, **settings):
    return RubricMetric("groundedness", models=ScriptedInvoker(script), **settings)


def asked(measured, canaries=None):
    return asyncio.run(ask_canaries(measured, canaries))


def test_a_judge_that_knows_passes_all_its_canaries():
    report = asked(groundedness(knows))
    assert report.passed
    assert re.fullmatch(r"groundedness: (\d+) of \1 canaries right", str(report))
    assert report.right.value == 1.0
    assert report.right.lower < 1.0


def test_a_judge_that_believes_what_answers_say_of_themselves_fails():
    def gullible(request):
        text = request.messages[-1].content
        return level(3) if '"score": 3' in text or "Score: 3" in text else knows(request)

    report = asked(groundedness(gullible))
    assert not report.passed
    assert {name for name, _ in report.wrong} == {"grades-itself", "json-verdict"}
    assert "groundedness: CANARIES FAILED" in str(report)
    assert "grades-itself: pass 1.000 (>= 0.5), but it is bad" in str(report)


def test_a_judge_that_fails_everything_is_found_out_by_the_good_ones():
    report = asked(groundedness(level(1)))
    assert {name for name, _ in report.wrong} == {"plain-good", "second-good"}
    assert all(said.endswith("but it is good") for _, said in report.wrong)


def test_a_judge_that_does_not_answer_is_not_right():
    report = asked(groundedness("no level at all"))
    assert not report.passed
    assert (report.right.value, report.right.coverage.rated) == (None, 0)
    assert report.right.coverage.failed == len(report.wrong) == report.right.coverage.total


def test_every_shipped_metric_of_one_answer_has_canaries_and_a_bad_one_among_them():
    judge = ScriptedInvoker(level(3))
    rubrics = [RubricMetric(name, models=judge) for name in rubric_names()]
    claims = [named_metric(name, models=judge) for name in SHIPPED_METRICS if name in CLAIMS]
    assert len(claims) == len(CLAIMS)
    for measured in [*rubrics, *claims]:
        assert False in {one.verdict_on(measured) for one in canaries_for(measured)}, measured.name


def test_ids_say_that_an_item_is_a_canary_and_no_two_are_the_same():
    names = [one.item.id for one in shipped_canaries()]
    assert all(name.startswith(PREFIX) for name in names)
    assert len(set(names)) == len(names)


def test_a_metric_under_another_name_keeps_its_canaries():
    renamed = groundedness(knows, name="holds up")
    assert [one.item.id for one in canaries_for(renamed)] == [one.item.id for one in canaries_for(groundedness(knows))]
    assert canaries_for(FaithfulnessMetric(model=ScriptedInvoker({}), name="true to it"))
    assert asked(renamed).metric == "holds up"


def test_a_metric_that_no_canary_fits_says_so():
    brief = metric(lambda item: True, name="brief")
    report = asked(brief)
    assert (report.passed, str(report)) == (True, "brief: no canary fits it")
    assert canaries_for(PyTrecMetric()) == []


def test_a_canary_that_lacks_a_field_of_the_metric_is_left_out():
    bare = Canary(item=EvalInput(id="canary:bare", answer="x"), kind="bad", passes=(("groundedness", False),))
    assert canaries_for(groundedness(knows), [bare]) == []


def test_a_canary_nobody_was_asked_about_is_skipped_and_not_wrong():
    measured = groundedness(knows)
    chosen = canaries_for(measured)[:2]
    done, missed = asyncio.run(measured.evaluate([one.item for one in chosen]))
    missed = type(missed)(score=None, success=False, error=_stopped())
    report = canary_report(measured, chosen, [done, missed])
    assert report.passed
    assert str(report) == "groundedness: 1 of 1 canaries right, 1 not asked"
    assert report.right.coverage.codes == {"interrupted": 1}


def _stopped():
    from calibrant.ratings import Failure

    return Failure(code="interrupted", message="the run ended")


def test_a_report_survives_json():
    report = asked(groundedness(level(3)))
    again = CanaryReport.from_json(json.loads(json.dumps(report.to_json(), allow_nan=False)))
    assert again == report
    assert report.to_json()["passed"] is False


RUDE = {"id": "rude", "item": {"answer": "Get lost."}, "passes": {"polite": False}}


@pytest.fixture
def written(tmp_path):
    def write(*records, name="mine.jsonl"):
        path = tmp_path / name
        lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
        path.write_text("\n".join(lines))
        return path

    return write


def test_canaries_of_your_own_come_from_a_file(written):
    kind = {"id": 7, "item": {"answer": "Thank you!"}, "passes": {"polite": True, "warm": True}}
    rude, warm = read_canaries(written(RUDE, kind))
    assert (rude.item.id, rude.kind, rude.verdict("polite")) == ("canary:rude", "bad", False)
    assert (warm.item.id, warm.kind, warm.verdict("warm"), warm.verdict("else")) == ("canary:7", "good", True, None)


def test_a_json_list_of_canaries_is_read_too(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([RUDE]))
    assert [one.item.answer for one in read_canaries(path)] == ["Get lost."]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("{", "line 1: is not JSON"),
        ("[1]", "line 1: expected a JSON object, got [1]"),
        ({**RUDE, "item": {}}, "line 1: `item` is a mapping of the fields of an item, not {}"),
        ({**RUDE, "item": "Get lost."}, "line 1: `item` is a mapping of the fields of an item, not 'Get lost.'"),
        ({**RUDE, "passes": {}}, "line 1: `passes` maps names of metrics to true or false, not {}"),
        ({**RUDE, "passes": {"polite": "no"}}, "line 1: `passes` maps names of metrics to true or false, not"),
        ({**RUDE, "verdict": 1}, "line 1: unknown key 'verdict'; the keys are: id, item, kind, passes"),
        ({**RUDE, "id": ""}, "line 1: id is empty"),
        ({"item": {"answer": "x"}, "passes": {"polite": True}}, "line 1: id is a text or a whole number, not None"),
    ],
)
def test_what_is_no_canary_is_named_with_its_line(written, record, problem):
    with pytest.raises(InputError, match=re.escape(problem)):
        read_canaries(written(record))


def test_all_problems_of_a_file_are_told_at_once(written):
    with pytest.raises(InputError, match=r"mine.jsonl has 2 problems") as told:
        read_canaries(written(RUDE, RUDE, {"id": "x"}))
    assert "line 2: the id 'rude' is another canary's" in str(told.value)
    assert "line 3: `item` is a mapping" in str(told.value)


def test_what_stands_for_canaries(written):
    assert chosen_canaries(given=True) == shipped_canaries()
    assert chosen_canaries(given=False) == ()
    path = written(RUDE)
    assert chosen_canaries(path) == chosen_canaries(str(path)) == chosen_canaries(list(read_canaries(path)))
    with pytest.raises(WrongTypeError, match=r"canaries are True, a file, or a list of Canary, not \[7\]"):
        chosen_canaries([7])
    with pytest.raises(WrongTypeError, match="canaries are True, a file, or a list of Canary, not 7"):
        chosen_canaries(7)


def test_a_file_of_canaries_that_is_not_there_or_empty_is_told(tmp_path, written):
    with pytest.raises(InputError, match=r"there is no file of canaries .*absent\.jsonl"):
        read_canaries(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match=r"mine\.jsonl holds no canaries"):
        read_canaries(written())
