import asyncio
import contextlib
import math
import socket
import subprocess
import sys

import numpy as np
import pytest
from aiohttp import web

from calibrant.bridge import run_sync
from calibrant.errors import InputError, ModelCallError, UnknownNameError, WrongTypeError
from calibrant.models import BaseLMInvoker, Reply
from calibrant.models.embedding import EmbeddingCache, default_embedding_model, embed
from calibrant.models.embedding_models import embedding_model


class Counting(BaseLMInvoker):
    """An embedder of our own: the vector of a text is its length and 1, and every text that it was asked is kept."""

    name = "own/length"

    def __init__(self, answer=None):
        self.asked = []
        self.answer = answer

    async def invoke(self, request):
        texts = [message.content for message in request.messages]
        self.asked.append(texts)
        await asyncio.sleep(0)
        return Reply(text="", data=[[len(text), 1.0] for text in texts] if self.answer is None else self.answer(texts))


def embedded(texts, **options):
    return asyncio.run(embed(texts, cache=EmbeddingCache(), **options))


def test_rows_are_in_the_order_of_the_texts_and_of_length_one():
    rows = embedded(["bbb", "a", "bbb"], model=Counting())
    assert rows.dtype == np.float32
    assert rows.shape == (3, 2)
    assert rows[0] == pytest.approx([3 / math.sqrt(10), 1 / math.sqrt(10)])
    assert rows[1] == pytest.approx([1 / math.sqrt(2), 1 / math.sqrt(2)])
    assert (rows[0] == rows[2]).all()


def test_a_text_is_asked_for_once_and_then_remembered():
    model, cache = Counting(), EmbeddingCache()
    asyncio.run(embed(["a", "b", "a"], model=model, cache=cache))
    asyncio.run(embed(["b", "c"], model=model, cache=cache))
    assert [sorted(batch) for batch in model.asked] == [["a", "b"], ["c"]]


def test_many_texts_go_in_batches_of_like_length():
    model = Counting()
    embedded([f"{number}" * (1 + number % 7) for number in range(600)], model=model)
    sizes = [len(batch) for batch in model.asked]
    assert max(sizes) == 256
    assert len(sizes) == math.ceil(sum(sizes) / 256)


def test_long_texts_go_in_smaller_batches():
    model = Counting()
    embedded([f"{number} " + "x" * 60_000 for number in range(7)], model=model)
    assert [len(batch) for batch in model.asked] == [3, 3, 1]


def test_no_texts_give_no_rows():
    assert embedded([], model=Counting()).shape == (0, 0)


def test_empty_texts_are_named_by_their_places():
    with pytest.raises(InputError, match=r"texts to embed has 3 problems:") as raised:
        embedded(["a", "", "b", " \n", None], model=Counting())
    assert raised.value.problems == (
        "text 1 is empty, so there is nothing to embed; leave it out",
        "text 3 is empty, so there is nothing to embed; leave it out",
        "text 4 is None, not a text",
    )


def test_one_text_in_the_place_of_a_list_is_refused():
    with pytest.raises(WrongTypeError, match=r"expected a list of texts, got None; put one text in a list"):
        asyncio.run(embed(None))
    with pytest.raises(WrongTypeError, match=r"expected a list of texts, got 'hello'; put one text in a list"):
        embedded("hello", model=Counting())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            lambda texts: [[0.0, 0.0] for _ in texts],
            r"no usable vector for 2 of 2 texts, the first of them 'a': a zero",
        ),
        (
            lambda texts: [[1.0, 0.0], [math.nan, 1.0]],
            r"no usable vector for 1 of 2 texts, the first of them 'b': a zero",
        ),
        (lambda texts: [[1.0, 0.0]], r"was asked for 2 vectors and gave \[\[1\.0, 0\.0\]\]"),
        (lambda texts: [[1.0], [1.0, 2.0]], r"was asked for 2 vectors and gave"),
        (lambda texts: "none", r"was asked for 2 vectors and gave 'none'"),
    ],
)
def test_what_is_no_vector_is_a_failure_and_never_zeros(answer, said):
    with pytest.raises(ModelCallError, match=said) as raised:
        embedded(["a", "b"], model=Counting(answer))
    assert raised.value.code == "provider_error"


def test_a_failed_batch_fails_the_call_and_leaves_no_task():
    class Failing(Counting):
        async def invoke(self, request):
            await super().invoke(request)
            if request.messages[0].content == "1000":
                raise ModelCallError("no answer within 60 s", code="judge_timeout")
            await asyncio.sleep(5)

    async def main():
        with pytest.raises(ModelCallError, match="no answer within 60 s"):
            await embed([f"{number}" for number in range(1000, 1500)], model=Failing(), cache=EmbeddingCache())
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1


def test_a_failure_is_not_remembered():
    cache, answers = EmbeddingCache(), iter([[[0.0]], [[2.0]]])
    model = Counting(lambda _texts: next(answers))
    with pytest.raises(ModelCallError):
        asyncio.run(embed(["a"], model=model, cache=cache))
    assert asyncio.run(embed(["a"], model=model, cache=cache)).tolist() == [[1.0]]


def test_a_cache_keeps_to_its_size_and_forgets_the_least_used():
    cache, vector = EmbeddingCache(max_bytes=3000), np.ones(200, dtype=np.float32)
    for text in ("a", "b"):
        cache.put("m", text, vector)
    assert cache.get("m", "a") is vector
    cache.put("m", "c", vector)
    assert len(cache) == 2
    assert cache.get("m", "b") is None
    assert cache.get("m", "a") is vector
    assert cache.get("other", "a") is None
    cache.put("m", "a", vector)
    assert len(cache) == 2


def test_the_default_is_openai_with_a_key_and_offline_without(monkeypatch):
    assert default_embedding_model() == "local/wordllama"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel")
    assert default_embedding_model() == "openai/text-embedding-3-large"


def test_names_and_options_that_do_not_exist_are_refused():
    with pytest.raises(
        UnknownNameError, match=r"unknown local embedding model 'local/smollm2'; expected one of: local/word"
    ):
        embedding_model("local/smollm2")
    with pytest.raises(
        UnknownNameError, match=r"unknown option of openai/x 'batch'; expected one of: api_key, api_key_env"
    ):
        embedding_model("openai/x", batch=3)
    with pytest.raises(UnknownNameError, match=r"local/wordllama takes no options, got base_url"):
        embedding_model("local/wordllama", base_url="http://localhost:1")
    with pytest.raises(WrongTypeError, match=r"expected an embedding model's name such as 'local/wordllama', got 3"):
        embedding_model(3)
    with pytest.raises(InputError, match=r"is made already; options go with a name"):
        embedding_model(Counting(), base_url="http://localhost:1")
    with pytest.raises(ModelCallError, match=r"anthropic/x gives no embeddings over the OpenAI wire"):
        embedding_model("anthropic/x")


@contextlib.asynccontextmanager
async def server(answer):
    """A server on the loopback whose `/v1/embeddings` does what `answer` says; gives its address."""
    application = web.Application()
    application.router.add_post("/v1/embeddings", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        await runner.cleanup()


def served(answer, texts, **options):
    async def main():
        async with server(answer) as address:
            return await embed(texts, base_url=address, cache=EmbeddingCache(), **options)

    return asyncio.run(main())


def test_an_endpoint_is_asked_by_name_with_the_key_and_answers_in_any_order():
    seen = []

    async def answer(request):
        seen.append((request.headers.get("Authorization"), await request.json()))
        vectors = [{"index": 1, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [3.0, 0.0]}]
        return web.json_response({"data": vectors, "model": "te", "usage": {"prompt_tokens": 4}})

    rows = served(answer, ["aa", "bb", "aa"], model="openai/te", api_key="sk-sentinel", dimensions=2)
    assert rows.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert seen == [("Bearer sk-sentinel", {"model": "te", "input": ["aa", "bb"], "dimensions": 2})]


def test_an_endpoint_that_refuses_is_a_failure_with_its_code():
    async def answer(_request):
        return web.json_response({"error": {"message": "no such model"}}, status=400)

    with pytest.raises(ModelCallError, match="no such model") as raised:
        served(answer, ["a"], model="openai/te", api_key="sk-sentinel")
    assert raised.value.code == "request_invalid"
    assert "sk-sentinel" not in str(raised.value)


def test_an_endpoint_that_gives_fewer_vectors_than_texts_is_a_failure():
    async def answer(_request):
        return web.json_response({"data": [{"index": 0, "embedding": [1.0]}]})

    async def main():
        async with server(answer) as address:
            # A model that is given whole is asked once; one that is given by name is asked again.
            model = embedding_model("vllm/te", base_url=address)
            return await embed(["a", "b"], model=model, cache=EmbeddingCache())

    with pytest.raises(ModelCallError, match=r"was asked for 2 embeddings and answered with something else"):
        asyncio.run(main())


def test_a_missing_key_says_which():
    with pytest.raises(ModelCallError, match=r"openai/te needs a key: set OPENAI_API_KEY"):
        embedded(["a"], model="openai/te")


def test_the_identity_tells_dimensions_apart_and_holds_no_key():
    small = embedding_model("openai/te", api_key="sk-sentinel", dimensions=2).identity
    assert small != embedding_model("openai/te").identity
    assert "sk-sentinel" not in repr(small)


def test_the_offline_embedder_finds_like_texts_alike():
    rows = embedded(["The cat sat on the mat.", "A cat is sitting on a mat.", "Quarterly revenue rose by 4%."])
    assert rows.shape == (3, 256)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_text_gets_the_same_row_alone_and_in_company():
    alone = embedded(["short"])
    among = embedded(["short", "a much longer text " * 200, "another"])
    assert alone[0] == pytest.approx(among[0], abs=1e-6)


def test_a_synchronous_caller_goes_over_the_bridge_also_inside_a_loop():
    async def main():
        return run_sync(embed(["a", "b"], model=Counting()))

    assert asyncio.run(main()).shape == run_sync(embed(["a", "b"], model=Counting())).shape == (2, 2)


OFFLINE = """
import sys
def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto"}:
        raise OSError(f"the network is shut off: {event}")
sys.addaudithook(refuse)
import asyncio, logging
from calibrant.models import embed
print(asyncio.run(embed(["a text", "another"])).shape, logging.getLogger().handlers)
"""


def test_the_offline_embedder_needs_no_network_and_sets_up_no_logging():
    command = [sys.executable, "-W", "error", "-c", OFFLINE]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("(2, 256) []\n", "")


def test_without_the_extra_its_install_line_is_shown():
    script = "import sys\nsys.modules['wordllama'] = None\n" + OFFLINE
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (
        done.stderr.strip()
        .splitlines()[-1]
        .endswith(
            "the offline embedder 'local/wordllama' needs an optional part; install it with: "
            "pip install 'calibrant[local]'"
        )
    )
