"""Laws of judging: no state, bounds, and what order must not change."""

import asyncio
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import BaseMetric, EvalInput, ScriptedInvoker
from calibrant.metrics import RubricMetric, flip_rate
from calibrant.metrics.fences import fenced, marker_of
from calibrant.metrics.quotes import is_quoted, sentences
from calibrant.models import BaseLMInvoker, Reply

words = st.text(alphabet="ab .!?\n", max_size=60)


class Slow(BaseLMInvoker):
    """Answers in an order of its own, by what the item says."""

    name = "test/slow"

    async def invoke(self, request):
        number = int(re.search(r"number (\d+)", request.messages[1].content)[1])
        for _ in range(number * 7919 % 5):
            await asyncio.sleep(0)
        return Reply(text="", data={"explanation": str(number), "score": number * 2654435761 % 3 + 1})


def test_ten_thousand_items_through_one_instance_score_as_one_at_a_time():
    metric = RubricMetric("fluency", models=Slow(), max_concurrent_judges=64)
    items = [EvalInput(id=str(number), answer=f"number {number}") for number in range(10_000)]

    async def one_at_a_time():
        return [await metric.evaluate(item) for item in items]

    together = asyncio.run(metric.evaluate(items))
    alone = asyncio.run(one_at_a_time())
    assert [one.score for one in together] == [one.score for one in alone]
    assert [one.explanation for one in together] == [item.id for item in items]
    assert [one.judges[0].item for one in together] == [item.id for item in items]
    assert {one.score for one in together} == {0.0, 0.5, 1.0}


def test_many_tasks_and_a_jury_of_64_share_one_instance():
    class Echo(BaseMetric):
        async def _evaluate(self, data):
            await asyncio.sleep(0)
            reply = await self.judge.invoke(request_of(data))
            return reply.data

    def request_of(data):
        from calibrant.models import Request

        return Request.of(data.answer, schema={"type": "number"})

    judge = ScriptedInvoker(lambda request: str(int(request.messages[0].content) % 2))
    metric = Echo(models=[judge] * 64)
    items = [EvalInput(answer=str(number)) for number in range(40)]
    results = asyncio.run(metric.evaluate(items))
    assert [one.score for one in results] == [number % 2 for number in range(40)]
    assert all(len(one.judges) == 64 and one.usage.calls == 64 for one in results)


@given(words, words)
@settings(max_examples=50)
def test_no_text_holds_its_own_marker_and_each_text_stands_whole_between_them(query, answer):
    texts = {"query": query, "answer": answer}
    shown = fenced(texts)
    marker = marker_of(texts)
    assert marker not in query + answer
    assert f"[{marker} begin answer]\n{answer}\n[{marker} end answer]" in shown


@given(words)
def test_sentences_keep_every_letter(text):
    kept = "".join(sentences(text))
    assert [one for one in kept if one.isalnum()] == [one for one in text if one.isalnum()]


@given(st.lists(st.sampled_from(["one", "two", "three"]), min_size=1), st.data())
def test_every_run_of_words_is_a_quotation_of_its_text(given_words, data):
    start = data.draw(st.integers(0, len(given_words) - 1))
    end = data.draw(st.integers(start + 1, len(given_words)))
    assert is_quoted(" ".join(given_words[start:end]), [" ".join(given_words)])


@given(st.lists(st.booleans(), min_size=2))
def test_the_flip_rate_is_a_share_and_does_not_mind_the_side(passed):
    rate = flip_rate(passed)
    assert 0.0 <= rate <= 1.0
    assert rate == flip_rate([not one for one in passed])
    assert (rate == 0.0) == (len(set(passed)) == 1)
