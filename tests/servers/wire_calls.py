"""What the tests of the wires share: two requests, and one call to a server that answers as it is told."""

import asyncio

import pytest
from provider_server import ProviderServer, Refuse

from calibrant.errors import ModelCallError
from calibrant.models import Request, connect

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}, "why": {"type": "string"}},
    "required": ["score", "why"],
    "additionalProperties": False,
}
LABELS = Request.of("Open?", labels=("yes", "no"))
SCORED = Request.of("Score it.", system="You judge.", schema=SCHEMA)


def ask(model, request):
    return asyncio.run(model.invoke(request))


def asked_of(request, *, answer=None, name="openai/judge", headers=None, **options):
    with ProviderServer(answer, headers=headers) as server:
        model = connect(name, base_url=server.openai_url, **options)
        return ask(model, request), server.requests


def failure_of(request, *, answer, name="openai/judge", **options):
    with ProviderServer(answer) as server:
        model = connect(name, base_url=server.openai_url, **options)
        with pytest.raises(ModelCallError) as caught:
            ask(model, request)
        return caught.value, server.requests


def refusing(status, message, *, headers=None, **more):
    def answer(body):
        raise Refuse(status, {"error": {"message": message, **more}}, headers)

    return answer
