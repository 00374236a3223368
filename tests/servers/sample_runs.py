"""Runs to be kept, compared, verified and drawn: forty items, a jury that fails on some, and rules."""

import random
import re

from calibrant import ScriptedInvoker
from calibrant.errors import JudgeReplyError
from calibrant.metrics import FaithfulnessMetric, RubricMetric
from calibrant.runs import RunSettings, run

STATEMENTS = ["It opens at ten.", "It is free."]


def items(count=40, *, words=5):
    """Items whose answers have 1, 2, ... `words` words in turn."""
    return [
        {
            "id": f"q{number}",
            "query": f"Question {number}?",
            "answer": "word " * (number % words + 1),
            "contexts": [f"words {number}"],
            "customer": f"c{number % 7}",
        }
        for number in range(count)
    ]


def brief(item):
    return len(item.answer.split()) <= 3


def share(item):
    return 1 / len(item.answer.split())


def tone(item):
    return ("curt", "kind", "neutral")[int(item.id[1:]) % 3]


def number_in(request):
    return int(re.search(r"words (\d+)", " ".join(message.content for message in request.messages)).group(1))


def judge(*, failing=(), shift=0.0):
    """A judge whose three levels depend on the item and the slot; it says rubbish of the `failing` items."""

    def script(request):
        number = number_in(request)
        if number in failing:
            raise JudgeReplyError("expected a level, got '<b>maybe</b>'")
        level = round(random.Random(number * 7 + request.slot * 31).gauss(2.4 + shift, 0.7))
        return {"explanation": f"Item {number} stands in the context.", "score": min(3, max(1, level))}

    return ScriptedInvoker(script)


def jury(*, size=3, aggregation="median", failing=(), threshold=0.6, **settings):
    models = [judge(failing=failing)] * size
    return RubricMetric("groundedness", models=models, aggregation_method=aggregation, threshold=threshold, **settings)


def verdicts(*words):
    """A judge that finds two statements in every answer and gives them these verdicts."""

    def script(request):
        if "statements" in request.schema["properties"]:
            return {"statements": STATEMENTS[: len(words)]}
        return {"verdicts": [{"reason": "Said so.", "quote": "", "verdict": word} for word in words]}

    return ScriptedInvoker(script)


def faithfulness(*words, size=1, **settings):
    return FaithfulnessMetric(models=[verdicts(*words)] * size, **settings)


def kept(rows, metrics, *, name="kept", folder=None, **asked):
    """The run of these rows; in a workspace in `folder`, if one is given."""
    settings = {key: asked.pop(key) for key in ("store_text", "cluster", "level", "fresh") if key in asked}
    return run(rows, metrics, settings=RunSettings(name=name, workspace=folder, **settings), **asked)
