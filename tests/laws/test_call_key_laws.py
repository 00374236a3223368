"""What holds of every call key, and of every reply that the journal kept."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.models import (
    BaseLMInvoker,
    Message,
    Reply,
    Request,
    ScriptedInvoker,
    connect,
    estimate_cost,
)
from calibrant.ratings import Usage

texts = st.text(max_size=30)
sampling = st.dictionaries(
    st.sampled_from(["temperature", "seed", "top_p"]), st.one_of(st.integers(0, 9), st.floats(0, 2)), max_size=3
)
requests = st.builds(
    Request,
    messages=st.lists(
        st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts), min_size=1, max_size=3
    ).map(tuple),
    labels=st.lists(texts.filter(str.strip), unique=True, max_size=3).map(tuple),
    sampling=sampling,
    logprobs=st.booleans(),
    slot=st.integers(0, 3),
)
few = settings(max_examples=50, deadline=None)


@few
@given(requests, requests)
def test_call_keys_are_equal_when_the_requests_are_and_only_then(one, other):
    judge = ScriptedInvoker("yes")
    assert (judge.call_key(one) == judge.call_key(other)) == (_spelled(one) == _spelled(other))


@few
@given(requests)
def test_the_order_in_which_sampling_is_spelled_does_not_change_the_key_and_the_slot_does(request):
    judge = connect("openai/judge")
    turned = Request(
        messages=request.messages,
        labels=request.labels,
        sampling=dict(reversed(request.sampling.items())),
        logprobs=request.logprobs,
        slot=request.slot,
    )
    assert judge.call_key(turned) == judge.call_key(request)
    slots = {judge.call_key(Request(messages=request.messages, slot=slot)) for slot in range(5)}
    assert len(slots) == 5
    assert all(key.startswith("sha256:") and len(key) == 71 for key in slots)


@few
@given(requests, st.text("abcdef", min_size=5, max_size=10))
def test_no_key_and_no_header_changes_the_hash_and_address_model_and_sampling_do(request, secret):
    plain = connect("openai/judge", base_url="http://a/v1")
    keyed = connect("openai/judge", base_url="http://a/v1/", api_key=secret, headers={"X-Org": secret}, timeout=3)
    assert keyed.call_key(request) == plain.call_key(request)
    others = [
        connect("openai/judge", base_url="http://b/v1"),
        connect("openai/other", base_url="http://a/v1"),
        connect("vllm/judge", base_url="http://a/v1"),
        connect("openai/judge", base_url="http://a/v1", sampling={"temperature": 1}),
        connect("openai/judge", base_url="http://a/v1", reply_mode="json_object"),
    ]
    assert len({model.call_key(request) for model in [plain, *others]}) == 6


def _spelled(request):
    return json.dumps(request.to_json(), sort_keys=True)


@few
@given(
    st.builds(
        Reply,
        text=texts,
        data=st.one_of(st.none(), texts, st.dictionaries(texts, st.integers())),
        label_probs=st.one_of(st.none(), st.dictionaries(texts, st.floats(0, 1))),
        off_label_mass=st.one_of(st.none(), st.floats(0, 1)),
        reasoning=texts,
        usage=st.builds(Usage, calls=st.integers(0, 3), usd=st.one_of(st.none(), st.floats(0, 9))),
    )
)
def test_a_reply_comes_back_from_the_journal_as_it_was(reply):
    assert Reply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


@few
@given(st.lists(requests, max_size=6), st.integers(0, 500))
def test_an_estimate_counts_equal_requests_once_and_an_unknown_price_is_none(asked, written):
    class Mine(BaseLMInvoker):
        name = "test/mine"

        async def invoke(self, request):
            raise AssertionError("an estimate asks nobody")

    different = {_spelled(request) for request in asked}
    found = estimate_cost(Mine(), [*asked, *asked], output_tokens=written)
    assert found.calls == len(different)
    assert found.output_tokens == written * len(different)
    assert found.usd is None or not different
    assert ("price unknown" in str(found)) == bool(different)
