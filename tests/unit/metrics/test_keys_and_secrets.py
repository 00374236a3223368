"""The same question has the same call key in every process of a workspace, and another in another workspace."""

import asyncio
import json
import subprocess
import sys
import threading

import pytest

from calibrant import EvalInput, ScriptedInvoker
from calibrant.metrics import FaithfulnessMetric, PairwiseMetric, RubricMetric, workspace_secret
from calibrant.metrics.fences import fenced, marker_of, sections_of
from calibrant.runs import RunSettings, run

ITEM = {"id": "q1", "query": "Open?", "answer": "At ten.", "contexts": ["At ten."], "answer_a": "a", "answer_b": "b"}
PROGRAM = """
import json, sys
from calibrant import ScriptedInvoker
from calibrant.metrics import RubricMetric
from calibrant.runs import RunSettings, run
judge, settings = ScriptedInvoker({"explanation": "x", "score": 3}), RunSettings(workspace=sys.argv[1])
result = run([json.loads(sys.argv[2])], [RubricMetric("fluency", models=judge)], settings=settings)
print(json.dumps([len(judge.requests), [list(rating.call_keys) for rating in result.ratings()]]))
"""


def judge():
    return ScriptedInvoker({"explanation": "x", "score": 3})


def keys_of(metric, secret=None):
    async def asked():
        with workspace_secret(secret) if secret else _nothing():
            return (await metric.evaluate(EvalInput.from_dict(ITEM))).judges[0].call_keys

    return asyncio.run(asked())


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def in_another_process(workspace):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(workspace), json.dumps(ITEM)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_another_process_finds_the_reply_and_asks_nobody(tmp_path):
    first, again = in_another_process(tmp_path), in_another_process(tmp_path)
    assert (first[0], again[0]) == (1, 0)
    assert first[1] == again[1]


def test_another_workspace_has_another_secret_and_other_keys(tmp_path):
    runs = [
        run([ITEM], [RubricMetric("fluency", models=judge())], settings=RunSettings(workspace=tmp_path / name))
        for name in ("one", "other")
    ]
    one, other = ([rating.call_keys for rating in result.ratings()] for result in runs)
    assert one != other
    assert (tmp_path / "one" / "secret").read_text() != (tmp_path / "other" / "secret").read_text()


def test_the_secret_is_for_its_owner_alone_and_in_no_file_beside(tmp_path):
    run([ITEM], [RubricMetric("fluency", models=judge())], settings=RunSettings(workspace=tmp_path))
    place = tmp_path / "secret"
    assert place.stat().st_mode & 0o077 == 0
    secret = place.read_bytes()
    assert not any(secret in file.read_bytes() for file in tmp_path.iterdir() if file != place)


def test_threads_that_begin_a_workspace_together_agree_on_its_secret(tmp_path):
    from calibrant.runs.keeping import _secret_beside

    for place in range(40):
        folder, found, start = tmp_path / str(place), [], threading.Barrier(8)
        folder.mkdir()

        def begin(folder=folder, found=found, start=start):
            start.wait()
            found.append(_secret_beside(folder / "calibrant.db"))

        threads = [threading.Thread(target=begin) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(found), len(set(found))) == (8, 1)
        assert [file.name for file in folder.iterdir()] == ["secret"]


def test_a_secret_that_cannot_be_kept_ends_the_run_with_its_reason(tmp_path):
    from calibrant.errors import StoreError

    (tmp_path / "secret").mkdir()
    with pytest.raises(StoreError, match="cannot keep the workspace's secret in"):
        run([ITEM], [RubricMetric("fluency", models=judge())], settings=RunSettings(workspace=tmp_path))


def test_the_same_secret_gives_the_same_keys_and_another_gives_others():
    for made in (RubricMetric("fluency", models=judge()), PairwiseMetric(models=ScriptedInvoker(_choice()))):
        assert keys_of(made, "s1") == keys_of(made, "s1") != keys_of(made, "s2")
        assert keys_of(made) == keys_of(made) != keys_of(made, "s1")


def _choice():
    return {"explanation": "x", "better": "tie"}


def test_threads_with_secrets_of_their_own_do_not_mix_them():
    metric = RubricMetric("fluency", models=judge())
    found, alone = {}, {name: keys_of(metric, name) for name in ("a", "b", "c", "d")}
    threads = [threading.Thread(target=lambda name=name: found.update({name: keys_of(metric, name)})) for name in alone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone
    assert len(set(found.values())) == 4


def test_the_secret_itself_is_in_no_request():
    asked = judge()
    keys_of(RubricMetric("fluency", models=asked), "the-secret-of-this-workspace")
    assert "the-secret-of-this-workspace" not in str(asked.requests)


def test_statements_of_one_item_have_a_marker_of_their_own():
    parts = {"statements": ["S1", "S2"], "verdicts": [{"reason": "r", "quote": "", "verdict": "fully"}] * 2}
    asked = ScriptedInvoker(lambda request: {name: parts[name] for name in request.schema["properties"]})
    asyncio.run(FaithfulnessMetric(model=asked).evaluate(EvalInput.from_dict(ITEM)))
    split, judging = (request.messages[1].content.split("The marker is ")[1][:24] for request in asked.requests)
    assert split != judging


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": "x", "b": "y"}, {"b": "y", "a": "x"}),
        ({"a": "x"}, {"b": "x"}),
        ({"a": "xy"}, {"a": "x", "y": ""}),
        ({"a": "e\u0301"}, {"a": "\u00e9"}),
        ({"a": ""}, {}),
    ],
)
def test_texts_that_differ_in_order_name_or_letters_have_other_markers(one, other):
    assert marker_of(one) != marker_of(other)


def test_no_texts_and_empty_texts_are_fenced_too():
    assert fenced({}).startswith("The marker is ")
    marker = marker_of({"answer": ""})
    assert f"[{marker} begin answer]\n\n[{marker} end answer]" in fenced({"answer": ""})


def test_what_is_no_text_is_shown_as_json_and_never_as_python():
    item = EvalInput(answer={"b": [1, None, True], "a": "é"}, query=5, contexts=[])
    assert sections_of(item, ["answer", "query", "contexts", "absent"]) == {
        "answer": '{"a":"é","b":[1,null,true]}',
        "query": "5",
        "contexts": "",
    }
