"""Every provider that can be named: its address, its key, and how it wants both, as seen by a server that is asked."""

import asyncio

import pytest
from provider_server import ProviderServer

from calibrant.errors import InputError, ModelCallError, UnknownNameError, WrongTypeError
from calibrant.models import Request, anthropic, connect, openai, openai_compatible
from calibrant.models.endpoints import PROVIDERS

ASKED = Request.of("Open?", labels=("yes", "no"), sampling={"max_tokens": 9})
KEY = "a-key-of-more-than-sixteen"

# Addresses and variables as the providers' own pages have them: OpenAI and Anthropic API references, Azure OpenAI v1
# API, docs.vllm.ai (port 8000), llama.cpp's server (8080), Ollama's OpenAI page (11434), OpenRouter, Together, Groq.
EXPECTED = {
    "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "x-api-key", "max_tokens"),
    "azure": ("", "AZURE_OPENAI_API_KEY", "api-key", "max_completion_tokens"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY", "Authorization", "max_tokens"),
    "llama.cpp": ("http://localhost:8080/v1", "LLAMA_API_KEY", "Authorization", "max_tokens"),
    "ollama": ("http://localhost:11434/v1", "OLLAMA_API_KEY", "Authorization", "max_tokens"),
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY", "Authorization", "max_completion_tokens"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "Authorization", "max_tokens"),
    "together": ("https://api.together.xyz/v1", "TOGETHER_API_KEY", "Authorization", "max_tokens"),
    "vllm": ("http://localhost:8000/v1", "VLLM_API_KEY", "Authorization", "max_tokens"),
}
LOCAL = {"llama.cpp", "ollama", "vllm"}


def asked(model):
    return asyncio.run(model.invoke(ASKED))


def test_the_table_of_this_test_knows_every_provider():
    assert set(EXPECTED) == set(PROVIDERS)


@pytest.mark.parametrize("provider", sorted(EXPECTED))
def test_each_provider_is_asked_with_its_key_in_its_header_and_its_word_for_the_limit(provider, monkeypatch):
    address, variable, header, limit = EXPECTED[provider]
    assert PROVIDERS[provider].base_url == address
    monkeypatch.setenv(variable, KEY)
    with ProviderServer() as server:
        reply = asked(connect(f"{provider}/org/judge", base_url=server.openai_url))
    (request,) = server.requests
    assert request.headers[header] == (f"Bearer {KEY}" if header == "Authorization" else KEY)
    assert request.body["model"] == "org/judge"
    assert request.body[limit] == 9
    assert request.path == ("/v1/messages" if provider == "anthropic" else "/v1/chat/completions")
    assert (reply.data, reply.model) == ("yes", "org/judge-2026")


@pytest.mark.parametrize("provider", sorted(LOCAL))
def test_a_server_of_ones_own_needs_no_key_and_is_sent_none(provider):
    with ProviderServer() as server:
        asked(connect(f"{provider}/judge", base_url=server.openai_url))
    assert not {"Authorization", "x-api-key", "api-key"} & set(server.requests[0].headers)


@pytest.mark.parametrize("provider", sorted(set(EXPECTED) - LOCAL - {"azure"}))
def test_a_hosted_provider_without_a_key_says_which_variable_it_wants(provider):
    with pytest.raises(ModelCallError) as caught:
        asked(connect(f"{provider}/judge"))
    assert str(caught.value) == f"{provider}/judge needs a key: set {EXPECTED[provider][1]}, or pass api_key=..."
    assert caught.value.code == "unauthorized"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_address_of_a_gateway_can_be_in_the_providers_variable(provider, monkeypatch):
    with ProviderServer() as server:
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", f"{server.openai_url}/")
        model = connect(f"{provider}/judge")
        assert asked(model).data == "yes"
    assert model.identity["base_url"] == server.openai_url


def test_anthropics_gateway_may_be_named_without_the_version():
    with ProviderServer() as server:
        assert asked(connect("anthropic/judge", base_url=server.url)).data == "yes"
    assert server.requests[0].path == "/v1/messages"


@pytest.mark.parametrize("ending", ["", "/", "/openai/v1", "/openai/v1/"])
def test_azure_is_named_by_its_resource_with_the_path_or_without(ending, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"https://me.openai.azure.com{ending}")
    assert connect("azure/judge").identity["base_url"] == "https://me.openai.azure.com/openai/v1"


def test_azure_at_its_own_address_needs_its_key(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")
    with pytest.raises(ModelCallError, match="azure/judge needs a key: set AZURE_OPENAI_API_KEY"):
        asked(connect("azure/judge"))


def test_any_other_server_is_reached_by_its_address_and_no_key_of_the_environment_goes_there(monkeypatch):
    for _, variable, _, _ in EXPECTED.values():
        monkeypatch.setenv(variable, KEY)
    with ProviderServer() as server:
        by_function = openai_compatible("judge", base_url=server.openai_url)
        by_name = connect("house/judge", base_url=server.openai_url)
        assert [asked(by_function).data, asked(by_name).data] == ["yes", "yes"]
    assert by_name.name == "openai_compatible/house/judge"
    assert all(KEY not in str(request.headers) for request in server.requests)


def test_makers_and_names_make_the_same_model():
    assert openai("gpt-x").identity == connect("gpt-x").identity == connect("openai/gpt-x").identity
    assert anthropic("claude-x").identity == connect("anthropic/claude-x").identity


def test_models_at_two_addresses_are_two_models_and_a_slash_at_the_end_makes_none():
    here, there = (openai_compatible("m", base_url=f"http://{host}/v1") for host in ("here", "there"))
    assert here.call_key(ASKED) != there.call_key(ASKED)
    assert here.call_key(ASKED) == openai_compatible("m", base_url="http://here/v1/").call_key(ASKED)


def test_a_model_s_own_sampling_goes_with_every_request_and_the_request_goes_first():
    with ProviderServer() as server:
        model = connect("vllm/judge", base_url=server.openai_url, sampling={"temperature": 0.2, "max_tokens": 5})
        asked(model)
    assert server.requests[0].body["temperature"] == 0.2
    assert server.requests[0].body["max_tokens"] == 9
    assert model.call_key(ASKED) != connect("vllm/judge", base_url=server.openai_url).call_key(ASKED)


def test_headers_of_ones_own_are_sent_on_both_wires():
    with ProviderServer() as server:
        for name in ("openai/judge", "anthropic/judge"):
            asked(connect(name, base_url=server.openai_url, headers={"X-Team": "search"}))
    assert [request.headers["X-Team"] for request in server.requests] == ["search", "search"]
    assert server.requests[1].headers["anthropic-version"] == "2023-06-01"


def test_the_version_of_anthropics_api_can_be_another():
    with ProviderServer() as server:
        model = connect("anthropic/judge", base_url=server.openai_url, headers={"anthropic-version": "2027-01-01"})
        asked(model)
    assert server.requests[0].headers["anthropic-version"] == "2027-01-01"


@pytest.mark.parametrize("name", ["", "  ", "/x", "openai/", "anthropic/"])
def test_half_a_name_is_refused(name):
    with pytest.raises((InputError, ModelCallError)) as caught:
        connect(name)
    assert "provider/model" in str(caught.value) or "no judge model was named" in str(caught.value)


@pytest.mark.parametrize("name", [3, b"openai/x", ["openai/x"]])
def test_a_name_is_a_text(name):
    with pytest.raises(WrongTypeError, match="a model is named by a text such as 'openai/NAME', not "):
        connect(name)
    with pytest.raises(WrongTypeError, match="a model is named by a text"):
        openai(name)


def test_spaces_around_a_name_do_not_make_another_model():
    assert connect(" openai/gpt-x\n").name == "openai/gpt-x"


def test_an_unknown_provider_lists_those_there_are_and_the_way_to_any_other():
    with pytest.raises(UnknownNameError) as caught:
        connect("mistral/large")
    assert str(caught.value) == (
        "unknown provider 'mistral' in 'mistral/large'; expected one of: anthropic, azure, groq, llama.cpp, ollama, "
        "openai, openrouter, together, vllm, local; any other server is reached with base_url=..."
    )


def test_everything_that_is_wrong_with_the_options_is_told_at_once():
    with pytest.raises(InputError) as caught:
        connect("gpt-x", timeout=True, api_key=5, headers="X: y", temperature=0)
    assert caught.value.problems[1:] == (
        "timeout is a number of seconds above 0, not True",
        "headers is a Mapping, not a str",
        "api_key is a str, not a int",
    )
    assert caught.value.problems[0].startswith("unknown option 'temperature'; expected one of: api_key, api_key_env")


def test_a_connected_model_takes_no_more_options():
    with pytest.raises(InputError, match=r"is connected already; options go with a name"):
        connect(connect("gpt-x"), timeout=3)
