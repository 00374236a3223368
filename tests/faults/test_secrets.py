"""A key is sent to the provider and is nowhere else: not in an error, a repr, a log, the store or a hash."""

import asyncio
import json
import logging
import traceback

import pytest
from provider_server import ProviderServer, Refuse

from calibrant.errors import EvalError, InputError, ModelCallError
from calibrant.models import Request, connect, openai_compatible, wrapped
from calibrant.store import Workspace

KEY = "verysecretkey-0123456789"
ASKED = Request.of("Is it?", labels=("yes", "no"))


def refusing(status, body):
    def refuse(_):
        raise Refuse(status, body)

    return refuse


def fails(model):
    with pytest.raises(EvalError) as caught:
        asyncio.run(model.invoke(ASKED))
    return f"{caught.value}\n{''.join(traceback.format_exception(caught.value))}"


@pytest.mark.parametrize("name", ["openai/judge", "anthropic/judge", "azure/judge"])
def test_the_key_is_sent_and_is_in_no_repr_hash_log_or_file(tmp_path, caplog, name):
    caplog.set_level(logging.DEBUG)
    with ProviderServer() as server, Workspace(tmp_path) as workspace:
        plain = connect(name, base_url=server.openai_url, api_key=KEY, headers={"X-Tenant": "tenant-secret-77"})
        model = wrapped(plain, workspace=workspace)
        reply = asyncio.run(model.invoke(ASKED))
        other = connect(name, base_url=server.openai_url, api_key="another-key")
        assert other.call_key(ASKED) == plain.call_key(ASKED) == reply.call_key
    sent = json.dumps(server.requests[0].headers)
    assert KEY in sent
    assert "tenant-secret-77" in sent
    seen = [repr(model), repr(plain.endpoint), str(dict(model.identity)), repr(reply), caplog.text]
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (KEY, "tenant-secret-77"):
        assert all(secret not in text for text in seen)
        assert secret.encode() not in kept


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
@pytest.mark.parametrize("body", [{"error": {"message": f"key {KEY} is wrong"}}, {"detail": [KEY]}, [KEY], KEY])
def test_a_provider_that_repeats_the_key_in_its_refusal_does_not_get_it_into_the_error(status, body):
    with ProviderServer(refusing(status, body)) as server:
        said = fails(connect("openai/judge", base_url=server.openai_url, api_key=KEY))
    assert KEY not in said
    assert "***" in said


def test_a_server_that_repeats_the_headers_as_its_reply_does_not_get_the_key_into_the_error():
    with ProviderServer(lambda body: {"headers": {"Authorization": f"Bearer {KEY}"}}) as server:
        said = fails(connect("openai/judge", base_url=server.openai_url, api_key=KEY))
    assert '{"headers": {"Authorization": "Bearer ***"}}' in said
    assert KEY not in said


@pytest.mark.parametrize("before", range(30, 62, 6))
def test_no_half_of_a_key_is_left_where_a_long_answer_is_cut(before):
    answer = {"note": "n" * before, "key": KEY}
    with ProviderServer(lambda body: answer) as server:
        said = fails(connect("openai/judge", base_url=server.openai_url, api_key=KEY))
    assert KEY[:6] not in said


def test_a_token_in_a_header_of_ones_own_is_a_secret_also_without_the_word_before_it():
    with ProviderServer(refusing(401, {"error": {"message": "token tok_abcdef12345 expired"}})) as server:
        model = connect("openai/judge", base_url=server.openai_url, headers={"Authorization": "Bearer tok_abcdef12345"})
        said = fails(model)
    assert "token *** expired" in said


def test_the_password_of_a_proxy_is_in_no_error(monkeypatch):
    async def refused_by_the_proxy():
        async def deny(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(deny, "127.0.0.1", 0) as proxy:
            port = proxy.sockets[0].getsockname()[1]
            monkeypatch.setenv("https_proxy", f"http://me:{KEY}@127.0.0.1:{port}")
            model = connect("openai/judge", base_url="https://example.test/v1", api_key="k")
            try:
                await model.invoke(ASKED)
            finally:
                await model.aclose()

    with pytest.raises(ModelCallError, match=r"407.*http://\*\*\*@127\.0\.0\.1") as caught:
        asyncio.run(refused_by_the_proxy())
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("address", [f"http://me:{KEY}@host/v1", f"me:{KEY}@host/v1", f"https://host/v1?key={KEY}"])
def test_an_address_that_carries_a_secret_is_refused_without_showing_it(address):
    with pytest.raises(InputError) as caught:
        connect("openai/judge", base_url=address)
    assert KEY not in str(caught.value)


def test_spaces_around_a_key_that_was_passed_are_not_sent():
    with ProviderServer() as server:
        asyncio.run(connect("openai/judge", base_url=server.openai_url, api_key=f" {KEY}\n").invoke(ASKED))
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_a_key_with_a_line_break_in_it_is_an_error_without_the_key():
    said = fails(openai_compatible("judge", base_url="http://127.0.0.1:1/v1", api_key=f"{KEY}\r\nX-More: 1"))
    assert "the key of openai_compatible/judge holds a control character" in said
    assert KEY not in said


@pytest.mark.parametrize("headers", [{"X-Secret": f"{KEY}\n"}, {"X-Secret": 7}, {5: KEY}])
def test_a_header_that_cannot_be_sent_is_named_without_its_value(headers):
    with pytest.raises(InputError, match="is no text without control characters") as caught:
        connect("openai/judge", base_url="http://127.0.0.1:1/v1", headers=headers)
    assert KEY not in str(caught.value)


def test_a_key_is_demanded_at_the_providers_own_address_only_and_so_is_its_list_price(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ProviderServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        model = connect("openai/gpt-4o")
        assert asyncio.run(model.invoke(ASKED)).data == "yes"
    assert model.cost(1_000_000, 0) is None
    assert "Authorization" not in server.requests[0].headers
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert "openai/gpt-4o needs a key: set OPENAI_API_KEY" in fails(connect("openai/gpt-4o"))


def test_a_reply_that_repeats_the_key_is_kept_without_it(tmp_path):
    said = f"Incorrect API key provided: {KEY}"
    with ProviderServer(lambda body: said) as server, Workspace(tmp_path) as workspace:
        model = wrapped(connect("openai/judge", base_url=server.openai_url, api_key=KEY), workspace=workspace)
        reply = asyncio.run(model.invoke(Request.of("Explain.")))
        told = fails(model)
    assert reply.text == "Incorrect API key provided: ***"
    assert KEY not in told
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    # Nor is it sent back with the complaint about the reply.
    assert all(KEY not in json.dumps(asked.body) for asked in server.requests)


@pytest.mark.parametrize("key", ["none", "EMPTY", "yes", "sk-no-key-needed"[:15]])
def test_a_short_key_of_a_local_server_does_not_blot_out_what_a_reply_says(key):
    with ProviderServer(lambda body: f"The answer is {key}.") as server:
        model = connect("vllm/judge", base_url=server.openai_url, api_key=key)
        assert asyncio.run(model.invoke(Request.of("Explain."))).text == f"The answer is {key}."
