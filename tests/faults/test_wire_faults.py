"""Servers that break the protocol itself: each way is one error with a code, soon, and the next call is unharmed."""

import asyncio
import gzip
import json

import pytest
from provider_server import ProviderServer, completion_payload

from calibrant.errors import ModelCallError
from calibrant.models import Request, connect, retried, wrapped

ASKED = Request.of("Open?", labels=("yes", "no"))
GOOD = json.dumps(completion_payload({"model": "m"}, "yes")).encode()


def response(body, *headers, status="200 OK", length=None):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


class RawServer:
    """A server that writes these bytes for each request in turn, the last for ever; None hangs up before a word."""

    def __init__(self, *answers, pause=0.0):
        self.answers, self.pause = list(answers), pause
        self.connections = 0

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *error):
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader, writer):
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if b"Content-Length" in line)
                await reader.readexactly(length)
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if answer is None:
                    break
                step = 1 if self.pause else len(answer)
                for piece in (answer[place : place + step] for place in range(0, len(answer), step)):
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(self.pause)
                if b"Connection: close" in answer:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def asked(*answers, pause=0.0, wrap=lambda model: model, **options):
    async def main():
        async with RawServer(*answers, pause=pause) as server:
            model = wrap(connect("openai/judge", base_url=server.url, **options))
            try:
                return await model.invoke(ASKED)
            finally:
                await model.aclose()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (None, "judge_unreachable", "could not be reached (ServerDisconnectedError"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "judge_unreachable", "could not be reached"),
        (response(GOOD[:40], "Connection: close", length=len(GOOD)), "judge_unreachable", "could not be reached"),
        (response(b"", "Content-Encoding: gzip")[:-4] + b"\r\n\r\n", "provider_error", "is no JSON object"),
        (response(b"not gzip", "Content-Encoding: gzip"), "judge_unreachable", "could not be reached"),
        (response(b""), "provider_error", "a body that is no JSON object: ''"),
        (response(b"<html>Welcome to nginx!</html>"), "provider_error", "no JSON object: '<html>Welcome to nginx!"),
        (response(b"[1, 2]"), "provider_error", "no JSON object: '[1, 2]'"),
        (response(b"null"), "provider_error", "no JSON object: 'null'"),
        (response(GOOD[:-1]), "provider_error", "is no JSON object"),
        (response(b"\xff\xfe\x00"), "provider_error", "is no JSON object"),
        (response(b"", status="204 No Content"), "request_invalid", "answered with HTTP 204"),
    ],
)
def test_each_breach_of_the_protocol_is_one_error_with_a_code(answer, code, said):
    with pytest.raises(ModelCallError) as caught:
        asked(answer)
    assert caught.value.code == code
    assert said in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_server_that_drips_is_a_timeout_though_it_never_falls_silent():
    with pytest.raises(ModelCallError, match=r"openai/judge did not answer within 0\.2 s") as caught:
        asked(response(GOOD), pause=0.02, timeout=0.2)
    assert caught.value.code == "judge_timeout"


@pytest.mark.parametrize(
    "bad", [None, response(GOOD[:40], "Connection: close", length=len(GOOD)), response(b""), response(GOOD[:-9])]
)
def test_the_next_attempt_is_unharmed(bad):
    reply = asked(bad, response(GOOD), wrap=lambda model: retried(model, first_wait=0.001))
    assert reply.data == "yes"


def test_a_compressed_reply_is_read():
    assert asked(response(gzip.compress(GOOD), "Content-Encoding: gzip")).data == "yes"


def test_a_connection_that_the_server_closes_between_calls_is_opened_anew():
    async def main():
        async with RawServer(response(GOOD, "Connection: close")) as server:
            model = connect("openai/judge", base_url=server.url)
            replies = [await model.invoke(ASKED) for _ in range(3)]
            await model.aclose()
            return replies, server.connections

    replies, connections = asyncio.run(main())
    assert [reply.data for reply in replies] == ["yes"] * 3
    assert connections == 3


def test_one_connection_serves_call_after_call():
    async def main():
        async with RawServer(response(GOOD)) as server:
            model = connect("openai/judge", base_url=server.url)
            for _ in range(5):
                await model.invoke(ASKED)
            await model.aclose()
            return server.connections

    assert asyncio.run(main()) == 1


def test_half_of_a_surrogate_pair_is_sent_as_far_as_it_can_be_and_never_stops_a_run():
    async def main():
        async with RawServer(response(GOOD)) as server:
            model = wrapped(connect("openai/judge", base_url=server.url))
            reply = await model.invoke(Request.of("Odd: \ud83d", labels=("yes", "no")))
            await model.aclose()
            return reply

    assert asyncio.run(main()).data == "yes"


def test_a_host_that_does_not_exist_is_unreachable_and_named():
    with pytest.raises(ModelCallError, match=r"openai/judge at http://no-such-host\.invalid/v1 could not") as caught:
        asyncio.run(connect("openai/judge", base_url="http://no-such-host.invalid/v1").invoke(ASKED))
    assert caught.value.code == "judge_unreachable"


def test_a_server_without_tls_where_tls_was_named_is_unreachable():
    with ProviderServer() as server:
        model = connect("openai/judge", base_url=server.openai_url.replace("http:", "https:"))
        with pytest.raises(ModelCallError, match="could not be reached") as caught:
            asyncio.run(model.invoke(ASKED))
    assert caught.value.code == "judge_unreachable"


def test_cancelling_a_call_closes_its_connection_and_the_model_goes_on():
    async def main():
        async with RawServer(response(GOOD, length=len(GOOD) + 50), response(GOOD)) as server:
            model = connect("openai/judge", base_url=server.url)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.invoke(ASKED), 0.1)
            reply = await model.invoke(ASKED)
            await model.aclose()
            return reply, server.connections

    reply, connections = asyncio.run(main())
    assert reply.data == "yes"
    assert connections == 2
