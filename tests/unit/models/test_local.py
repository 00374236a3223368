"""The offline judge itself: these tests load the model, which is fetched once to the user's cache folder."""

import asyncio
import gc
import math
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from calibrant.errors import InputError, ModelCallError, UnknownNameError, WrongTypeError
from calibrant.models import Request
from calibrant.models.gguf_files import fetch_model
from calibrant.models.local import local
from calibrant.models.local_engine import available_threads
from calibrant.ratings import Usage

BRIEF = {"max_tokens": 40, "stop": [".", "!", "?", ",", "\n"]}
FACT = "Is Paris in France? Answer yes or no."


@pytest.fixture(scope="module")
def model_path():
    try:
        return fetch_model("local/smollm2")
    except ModelCallError as error:
        pytest.skip(f"the model file could not be fetched: {error}")


@pytest.fixture(scope="module")
def smol(model_path):
    """The model, kept loaded over the tests of this file."""
    return local("local/smollm2")


def ask(model, prompt, **form):
    return asyncio.run(model.invoke(Request.of(prompt, **form)))


def test_text_is_text_and_its_tokens_are_counted(smol):
    reply = ask(smol, "Say hi.", sampling=BRIEF)
    assert reply.text
    assert reply.data is None
    assert reply.mode == "text"
    assert reply.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert reply.usage == Usage(calls=1, input_tokens=33, output_tokens=reply.usage.output_tokens, usd=0.0)
    assert 1 < reply.usage.output_tokens < 40


def test_the_same_request_gets_the_same_reply_whatever_was_asked_between(smol):
    first = ask(smol, FACT, labels=("yes", "no"))
    ask(smol, FACT + " Think.", sampling=BRIEF)
    assert ask(smol, FACT, labels=("yes", "no")) == first


def test_label_probabilities_sum_to_one_and_the_mass_off_the_labels_is_told(smol):
    labels = ("yes", "no", "not sure", "no idea", 'a "quoted" one', "größer")
    reply = ask(smol, FACT, labels=labels)
    assert tuple(reply.label_probs) == labels
    assert math.fsum(reply.label_probs.values()) == pytest.approx(1.0, abs=1e-9)
    assert 0.0 < reply.off_label_mass < 1.0
    assert reply.data == reply.text == max(reply.label_probs, key=reply.label_probs.get)
    assert reply.mode == "label"


def test_a_label_that_the_model_wants_to_say_has_most_of_the_mass(smol):
    reply = ask(smol, "Repeat exactly this one word: banana", labels=("banana", "Banana", "table", "seven"))
    assert reply.data in {"banana", "Banana"}
    assert reply.label_probs["table"] < 0.05


def test_at_a_temperature_the_slots_of_a_jury_differ_and_are_repeatable(smol):
    def draw(slot):
        return ask(smol, "Yes or no?", labels=("No", "Yes"), sampling={"temperature": 3.0}, slot=slot).data

    drawn = [draw(slot) for slot in range(6)]
    assert len(set(drawn)) == 2
    assert [draw(slot) for slot in range(2)] == drawn[:2]


def test_text_at_a_temperature_differs_by_slot_and_not_by_run(smol):
    replies = [
        ask(smol, "Name an animal.", sampling={"temperature": 1.5, **BRIEF}, slot=slot).text for slot in (0, 1, 0)
    ]
    assert replies[0] == replies[2] != replies[1]


def is_of(value, schema):
    """A checker for the few keywords that are used here, apart from ours."""
    match schema:
        case {"enum": choices}:
            return value in choices
        case {"type": "object"}:
            fits = all(is_of(value[name], inner) for name, inner in schema["properties"].items() if name in value)
            return fits and set(schema["required"]) <= set(value) <= set(schema["properties"])
        case {"type": "array"}:
            return schema["minItems"] <= len(value) <= schema["maxItems"] and all(
                is_of(one, schema["items"]) for one in value
            )
        case {"type": "string"}:
            return isinstance(value, str) and len(value) <= schema.get("maxLength", 400)
        case {"type": "integer" | "number" as kind}:
            right = isinstance(value, int) if kind == "integer" else isinstance(value, int | float)
            return right and schema["minimum"] <= value <= schema["maximum"]
        case _:
            return isinstance(value, bool)


SCORE = {"type": "integer", "minimum": 1, "maximum": 5}
SCHEMAS = [
    {"type": "object", "properties": {"score": SCORE, "why": {"type": "string"}}, "required": ["score", "why"]},
    {"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["p"]},
    {"type": "array", "items": {"enum": ["full", "partial", "none"]}, "minItems": 3, "maxItems": 3},
    {"type": "object", "properties": {"is_true": {"type": "boolean"}}, "required": []},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_reply_to_a_schema_is_json_of_the_schema(smol, schema):
    reply = ask(smol, "Rate this from 1 to 5 and say why: Paris is in France.", schema=schema)
    assert is_of(reply.data, schema)
    assert reply.mode == "json_schema"
    assert reply.label_probs is None


def test_a_schema_that_the_engine_cannot_follow_is_refused_and_not_ignored(smol):
    with pytest.raises(
        ModelCallError, match=r"cannot be held to this JSON schema .*: \{'\$ref': '#/nowhere'\}"
    ) as raised:
        ask(smol, "Rate this.", schema={"$ref": "#/nowhere"})
    assert raised.value.code == "unsupported"
    assert not raised.value.retryable


def test_a_reply_that_is_cut_off_is_a_failure(smol):
    with pytest.raises(ModelCallError) as raised:
        ask(smol, "Tell a story.", schema={"type": "string", "minLength": 200}, sampling={"max_tokens": 5})
    assert raised.value.code == "reply_truncated"
    assert raised.value.reply.startswith('"')
    assert raised.value.usage.output_tokens == 5
    with pytest.raises(
        ModelCallError, match=r"the reply was cut off after 3 tokens, got '.+'; pass a larger max_tokens"
    ):
        ask(smol, "Tell a story.", sampling={"max_tokens": 3})


def test_a_prompt_that_is_too_long_says_so(smol):
    with pytest.raises(ModelCallError, match=r"has \d+ tokens, more than the 4096 that the local model") as raised:
        ask(smol, "word " * 5000)
    assert raised.value.code == "request_invalid"
    with pytest.raises(ModelCallError, match=r"more than the 4096"):
        ask(smol, "word " * 5000, labels=("yes", "no"))


@pytest.mark.parametrize("labels", [("yes", "no\n"), ("yes", "n\x00o")])
def test_labels_that_cannot_be_told_apart_are_refused(smol, labels):
    with pytest.raises(ModelCallError, match=r"labels must be different printable texts, got \('yes', "):
        ask(smol, FACT, labels=labels)


def test_callers_at_once_queue_and_the_loop_goes_on_meanwhile(smol):
    async def main():
        turns = 0

        async def count():
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        await smol.invoke(Request.of("Hi", labels=("Hi", "No")))
        counting = asyncio.create_task(count())
        asked = [smol.invoke(Request.of(FACT, labels=("yes", "no"), slot=slot)) for slot in range(4)]
        replies = await asyncio.gather(*asked)
        counting.cancel()
        return replies, turns

    replies, turns = asyncio.run(main())
    assert len({reply.data for reply in replies}) == 1
    assert turns > 20


def test_a_cancelled_call_stops_and_the_next_one_is_answered(smol):
    async def main():
        running = asyncio.create_task(smol.invoke(Request.of("Write a long story.", sampling={"max_tokens": 4000})))
        queued = asyncio.create_task(smol.invoke(Request.of("Write another.", sampling={"max_tokens": 4000})))
        await asyncio.sleep(0.5)
        running.cancel()
        queued.cancel()
        ended = await asyncio.gather(running, queued, return_exceptions=True)
        # 8,000 tokens would take a minute or two; the bound only tells a stop from none.
        reply = await asyncio.wait_for(smol.invoke(Request.of("Hi", labels=("Hi", "No"))), timeout=20)
        return ended, reply

    ended, reply = asyncio.run(main())
    assert [type(error) for error in ended] == [asyncio.CancelledError] * 2
    assert reply.text


def test_one_file_is_loaded_once_for_all_who_ask_it_and_freed_when_all_let_go(model_path):
    first, second = local("local/smollm2", context=256), local("smollm2", context=256)
    ask(first, "Hi", labels=("Hi", "No"))
    ask(second, "Hi", labels=("Hi", "No"))
    assert first._engine is second._engine
    engine = weakref.ref(first._engine)
    asyncio.run(first.aclose())
    assert engine() is not None
    asyncio.run(second.aclose())
    gc.collect()
    assert engine() is None
    assert ask(first, "Hi", labels=("Hi", "No")).text


def test_any_gguf_file_is_asked_by_its_path(model_path, tmp_path):
    own = tmp_path / "my own model.GGUF"
    shutil.copyfile(model_path, own)
    model = local(f"local/{own}", context=256, threads=1)
    assert ask(model, FACT, labels=("yes", "no")).model == "my own model.GGUF"
    assert model.identity["model"] == "local/my own model.GGUF"
    assert model.identity["sha256"] == local("local/smollm2").identity["sha256"]


def test_a_file_that_is_cut_off_is_said_to_be_damaged(model_path, tmp_path):
    cut = tmp_path / "cut.gguf"
    with model_path.open("rb") as whole:
        cut.write_bytes(whole.read(1_000_000))
    with pytest.raises(
        ModelCallError, match=r"cut\.gguf could not be loaded: it is damaged, needs more memory"
    ) as raised:
        ask(local(f"local/{cut}"), "Hi")
    assert raised.value.code == "unsupported"


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    (tmp_path / "a.gguf").write_text("not a model")
    with pytest.raises(ModelCallError, match=r"expected a GGUF model file, but .*a\.gguf is none"):
        ask(local(f"local/{tmp_path}/a.gguf"), "Hi")


def test_a_missing_file_says_how_to_fetch_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBRANT_HOME", str(tmp_path))
    with pytest.raises(ModelCallError, match=r"fetch it once with: calibrant models fetch local/smollm2") as raised:
        ask(local("local/smollm2"), "Hi")
    assert raised.value.code == "missing_extra"


def test_a_damaged_carried_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBRANT_HOME", str(tmp_path))
    model = local("local/smollm2")
    model.path.parent.mkdir()
    model.path.write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(ModelCallError, match=r"is damaged: expected SHA-256 b179.*fetch it again with: calibrant"):
        ask(model, "Hi")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that nobody can read, such as Linux has")
def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "locked.gguf").symlink_to("/proc/self/mem")
    model = local(f"local/{tmp_path}/locked.gguf")
    with pytest.raises(
        ModelCallError, match=r"the model file .*locked\.gguf cannot be read: .*Input/output error"
    ) as raised:
        ask(model, "Hi")
    assert raised.value.code == "request_invalid"
    with pytest.raises(ModelCallError, match="cannot be read"):
        _ = model.identity


def test_a_path_to_nothing_is_named():
    with pytest.raises(ModelCallError, match=r"there is no model file at .*nothing\.gguf") as raised:
        ask(local("local/nothing.gguf"), "Hi")
    assert raised.value.code == "request_invalid"


def test_a_name_that_is_neither_known_nor_a_file_lists_what_there_is():
    with pytest.raises(
        UnknownNameError, match=r"unknown local model 'local/gpt'; expected one of: local/PATH\.gguf, local/sm"
    ):
        local("local/gpt")


def test_wrong_options_are_named():
    with pytest.raises(
        UnknownNameError, match=r"unknown option of a local model 'ctx'; expected one of: context, long"
    ):
        local("local/smollm2", ctx=1)
    with pytest.raises(InputError, match=r"context must be a whole number of at least 1, got 0"):
        local("local/smollm2", context=0)
    with pytest.raises(InputError, match=r"threads must be a whole number of at least 1, got '2'"):
        local("local/smollm2", threads="2")
    with pytest.raises(WrongTypeError, match=r"expected a model's name such as 'local/smollm2', got 3"):
        local(3)


def test_the_identity_needs_no_file_and_says_what_is_asked():
    identity = local("local/smollm2", max_tokens=64).identity
    assert identity["model"] == "local/SmolLM2-135M-Instruct.Q4_1.gguf"
    assert identity["sha256"].startswith("b179c952")
    assert identity != local("local/smollm2").identity


def test_one_core_is_left_to_others():
    assert available_threads() >= 1


# What stands between a process and any network: a name looked up or a connection begun is an error.
NO_NETWORK = """
import sys
def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto"}:
        raise OSError(f"the network is shut off: {event}")
sys.addaudithook(refuse)
"""


def offline(script):
    """What `script` prints in a process that has no network: where it can be done, not even a loopback."""
    command = [sys.executable, "-W", "error", "-c", NO_NETWORK + script]
    apart = ["unshare", "--map-root-user", "--net"]
    can = shutil.which("unshare") and subprocess.run([*apart, "true"], check=False, capture_output=True).returncode == 0
    done = subprocess.run([*apart, *command] if can else command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_judge_answers_with_the_network_shut_off(model_path):
    said = offline(
        "import asyncio\n"
        "from calibrant.models import Request\n"
        "from calibrant.models.local import local\n"
        "reply = asyncio.run(local('local/smollm2').invoke(Request.of('Is Paris in France?', labels=('yes', 'no'))))\n"
        "print(reply.data, round(sum(reply.label_probs.values()), 6))\n"
    )
    assert said in {"yes 1.0\n", "no 1.0\n"}


def test_without_the_extra_its_install_line_is_shown():
    said = offline(
        "sys.modules['xllamacpp'] = None\n"
        "from calibrant.models.local import local\n"
        "try:\n    local('local/smollm2')\n"
        "except ImportError as error:\n    print(type(error).__name__, error)\n"
    )
    assert said == (
        "MissingExtraError the offline model 'local/smollm2' needs an optional part; install it with:"
        " pip install 'calibrant[local]'\n"
    )
