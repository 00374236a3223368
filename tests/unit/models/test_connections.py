"""Keys, prices, connections and names: what stands between a model and its server."""

import asyncio

import pytest
from provider_server import ProviderServer, completion_payload
from wire_calls import LABELS, ask, asked_of, failure_of, refusing

from calibrant.errors import InputError, ModelCallError, ModelNotNamedError, UnknownNameError
from calibrant.models import Price, anthropic, connect, openai, openai_compatible

SENTINEL = "sk-sentinel-123456"


def test_a_key_is_sent_and_shows_nowhere(monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    with ProviderServer(refusing(401, f"Incorrect API key: {SENTINEL}")) as server:
        model = connect("openai/judge", base_url=server.openai_url, headers={"X-Gateway": "gate-secret"})
        with pytest.raises(ModelCallError) as caught:
            ask(model, LABELS)
    assert server.requests[0].headers["Authorization"] == f"Bearer {SENTINEL}"
    shown = f"{caught.value}{caught.value!r}{model!r}{model.endpoint!r}{model.identity}{caplog.text}"
    assert SENTINEL not in shown
    assert "gate-secret" not in shown
    assert "Incorrect API key: ***" in shown
    assert model.call_key(LABELS) == connect("openai/judge", base_url=server.openai_url).call_key(LABELS)


def test_a_missing_key_is_said_when_the_model_is_asked_and_nothing_is_sent():
    with pytest.raises(ModelCallError, match=r"openai/gpt-x needs a key: set OPENAI_API_KEY, or pass api_key=\.\.\."):
        ask(openai("gpt-x"), LABELS)
    with pytest.raises(ModelCallError, match="anthropic/claude-x needs a key: set ANTHROPIC_API_KEY"):
        ask(anthropic("claude-x"), LABELS)


def test_no_key_is_sent_where_none_is_needed():
    _, requests = asked_of(LABELS, name="vllm/judge")
    assert "Authorization" not in requests[0].headers


def test_the_variable_that_holds_the_key_can_be_named(monkeypatch):
    monkeypatch.setenv("GATEWAY_API_KEY", SENTINEL)
    with ProviderServer() as server:
        model = openai_compatible("judge", base_url=server.openai_url, api_key_env="GATEWAY_API_KEY")
        ask(model, LABELS)
    assert server.requests[0].headers["Authorization"] == f"Bearer {SENTINEL}"


def test_prices_make_money_and_an_unknown_price_stays_unknown():
    reply, _ = asked_of(LABELS, price=(2.5, 10))
    assert reply.usage.usd == pytest.approx((40 * 2.5 + 10 * 10) / 1e6)
    reply, _ = asked_of(LABELS)
    assert reply.usage.usd is None


def test_a_reply_without_counts_has_no_known_cost():
    def answer(body):
        return {**completion_payload(body, "yes"), "usage": None}

    reply, _ = asked_of(LABELS, answer=answer, price=Price(1, 1))
    assert reply.usage.usd is None


def test_a_redirect_is_not_followed_so_that_the_key_stays_where_it_belongs():
    error, requests = failure_of(LABELS, answer=refusing(307, "", headers={"Location": "http://127.0.0.1:1/"}))
    assert error.code == "request_invalid"
    assert "a redirect, which is not followed" in str(error)
    assert len(requests) == 1


def test_nobody_listening_is_unreachable():
    with pytest.raises(
        ModelCallError, match=r"openai/judge at http://127\.0\.0\.1:1/v1 could not be reached"
    ) as caught:
        ask(connect("openai/judge", base_url="http://127.0.0.1:1/v1"), LABELS)
    assert caught.value.code == "judge_unreachable"
    assert "ssl" not in str(caught.value)


def test_a_silent_server_is_a_timeout():
    with ProviderServer(faults={"hang": 1.0}) as server:
        model = connect("openai/judge", base_url=server.openai_url, timeout=0.1)
        with pytest.raises(ModelCallError, match=r"openai/judge did not answer within 0\.1 s") as caught:
            ask(model, LABELS)
    assert caught.value.code == "judge_timeout"


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    with ProviderServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://user:word@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        reply = ask(connect("openai/judge", base_url="http://models.example/v1"), LABELS)
    assert reply.data == "yes"
    assert proxy.requests[0].headers["Host"] == "models.example"
    assert proxy.requests[0].headers["Proxy-Authorization"].startswith("Basic ")


def test_one_invoker_works_under_two_loops_one_after_the_other():
    with ProviderServer() as server:
        model = connect("openai/judge", base_url=server.openai_url)
        assert [ask(model, LABELS).data, ask(model, LABELS).data] == ["yes", "yes"]


def test_a_closed_model_opens_again():
    with ProviderServer() as server:
        model = connect("openai/judge", base_url=server.openai_url)

        async def close_between():
            await model.invoke(LABELS)
            await model.aclose()
            return await model.invoke(LABELS)

        assert asyncio.run(close_between()).data == "yes"


def test_models_are_named_by_provider_and_model():
    assert connect("gpt-x").name == "openai/gpt-x"
    assert connect("openrouter/meta/llama").endpoint.model == "meta/llama"
    assert connect("meta/llama", base_url="http://localhost:9/v1").name == "openai_compatible/meta/llama"
    assert connect("azure/judge", base_url="https://me.openai.azure.com").identity["base_url"].endswith("/openai/v1")
    model = connect("ollama/qwen")
    assert connect(model) is model


def test_the_default_model_is_read_when_asked(monkeypatch):
    with pytest.raises(ModelNotNamedError, match="CALIBRANT_MODEL"):
        connect()
    monkeypatch.setenv("CALIBRANT_MODEL", "groq/judge")
    assert connect().name == "groq/judge"


@pytest.mark.parametrize(
    ("name", "options", "error", "text"),
    [
        ("nobody/x", {}, UnknownNameError, "unknown provider 'nobody' in 'nobody/x'; expected one of: anthropic"),
        ("openai/", {}, InputError, "a model is named provider/model, not 'openai/'"),
        ("azure/x", {}, InputError, "azure/x has no address: set AZURE_OPENAI_ENDPOINT, or pass base_url"),
        ("gpt-x", {"temprature": 0}, InputError, "unknown option 'temprature'; expected one of: api_key"),
        ("gpt-x", {"timeout": -1}, InputError, "timeout is a number of seconds above 0, not -1"),
        ("gpt-x", {"sampling": 3}, InputError, "sampling is a Mapping, not a int"),
        ("gpt-x", {"price": "cheap"}, InputError, "a price is Price"),
        ("gpt-x", {"price": (1, -2)}, InputError, "0 or more, not -2"),
        ("gpt-x", {"base_url": "localhost:80"}, InputError, "base_url of openai/gpt-x is http:// or https://"),
        ("gpt-x", {"base_url": "http://me:secret@host/v1"}, InputError, "carries a user, a password or a query"),
    ],
)
def test_a_wrong_name_or_option_says_what_to_do(name, options, error, text):
    with pytest.raises(error) as caught:
        connect(name, **options)
    assert text in str(caught.value)
    assert "secret@" not in str(caught.value)
