"""A model provider on loopback, in a thread of its own: both wires, and every way in which a provider misbehaves.

    with ProviderServer(faults=MISBEHAVIOUR) as server:
        model = connect("openai/judge", base_url=server.openai_url)

`requests` holds what came in, `answered` how often each question got a whole, good reply.
"""

import asyncio
import json
import random
import threading
from collections import Counter
from typing import NamedTuple

from aiohttp import web

MISBEHAVIOUR = {"rate_limited": 0.05, "server_error": 0.03, "hang": 0.005, "truncated": 0.02, "cut": 0.01}
RETRY_AFTER = "0.05"


class Asked(NamedTuple):
    path: str
    headers: dict
    body: dict

    @property
    def prompt(self):
        return self.body["messages"][-1]["content"]

    @property
    def question(self):
        """What was asked first, also when it is asked again with the error."""
        return next((one["content"] for one in self.body.get("messages", ()) if one["role"] == "user"), "")


class Refuse(Exception):  # noqa: N818 - it is raised as one says it
    """Raised by an `answer` function: the HTTP status, body and headers to reply with."""

    def __init__(self, status, body, headers=None):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


class ProviderServer:
    """`answer(body)` gives the reply's text, or a whole payload as a dict; `latency` is in seconds."""

    def __init__(self, answer=None, *, faults=None, latency=0.0, headers=None, seed=0):
        self.answer = answer or example_answer
        self.faults = faults or {}
        self.latency = latency
        self.headers = headers or {}
        self.requests = []
        self.answered = Counter()
        self.faulted = Counter()
        self.concurrent = self.most_concurrent = 0
        self._seed, self._attempts = seed, Counter()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *error):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self):
        return f"{self.url}/v1"

    anthropic_url = openai_url

    async def _serve(self):
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_post("/v1/messages", self._handle)
        app.router.add_post("/v1/embeddings", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request):
        self.concurrent += 1
        self.most_concurrent = max(self.most_concurrent, self.concurrent)
        try:
            asked = Asked(request.path, dict(request.headers), await request.json())
            self.requests.append(asked)
            await asyncio.sleep(self.latency)
            return await self._respond(request, asked)
        finally:
            self.concurrent -= 1

    async def _respond(self, request, asked):
        fault = self._drawn(asked.question)
        self.faulted[fault] += 1
        if fault == "rate_limited":
            raise web.HTTPTooManyRequests(text=error_body("slow down"), headers={"Retry-After": RETRY_AFTER})
        if fault == "server_error":
            raise web.HTTPInternalServerError(text=error_body("upstream fell over"))
        if fault == "hang":
            await asyncio.sleep(3600)
        try:
            said = self.answer(asked.body)
        except Refuse as refusal:
            return web.json_response(refusal.body, status=refusal.status, headers=refusal.headers)
        if fault == "truncated" and isinstance(said, str):
            said = said[: len(said) // 2]
        wrap = message_payload if asked.path.endswith("messages") else completion_payload
        payload = json.dumps(said if isinstance(said, dict) else wrap(asked.body, said)).encode()
        if fault == "cut":
            return await self._cut(request, payload)
        if fault != "truncated":
            self.answered[asked.question] += 1
        return web.Response(body=payload, content_type="application/json", headers=self.headers)

    async def _cut(self, request, payload):
        response = web.StreamResponse(headers={"Content-Length": str(len(payload))})
        await response.prepare(request)
        await response.write(payload[: len(payload) // 2])
        request.transport.abort()
        return response

    def _drawn(self, question):
        """The fault that this attempt at the question meets: the same in every run, whatever order they come in."""
        self._attempts[question] += 1
        draw = random.Random(f"{self._seed} {question} {self._attempts[question]}").random()
        for fault, share in self.faults.items():
            if draw < share:
                return fault
            draw -= share
        return "none"


def error_body(message, **more):
    return json.dumps({"error": {"message": message, **more}})


def completion_payload(body, text, *, finish="stop", logprobs=None, **message):
    if body.get("logprobs") and logprobs is None:
        logprobs = {"yes": -0.1, "no": -2.5}
    tops = [{"token": token, "logprob": value} for token, value in (logprobs or {}).items()]
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    if tops:
        choice["logprobs"] = {"content": [{**tops[0], "top_logprobs": tops}]}
    usage = {"prompt_tokens": 40, "completion_tokens": 10}
    return {"id": "c-1", "model": f"{body['model']}-2026", "choices": [choice], "usage": usage}


def message_payload(body, text, *, stop="end_turn"):
    tools = body.get("tools")
    block = {"type": "tool_use", "id": "t", "name": tools[0]["name"], "input": json.loads(text)} if tools else None
    return {
        "id": "m-1",
        "model": f"{body['model']}-2026",
        "content": [block or {"type": "text", "text": text}],
        "stop_reason": stop,
        "usage": {"input_tokens": 40, "output_tokens": 10},
    }


def example_answer(body):
    """Something of the schema that was asked for; `yes` for everything else."""
    form = body.get("response_format") or body.get("output_config", {}).get("format") or {}
    schema = form.get("json_schema", form).get("schema")
    if schema is None and body.get("tools"):
        schema = body["tools"][0]["input_schema"]
    return json.dumps(example_of(schema)) if schema else "yes"


def example_of(schema):
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: example_of(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [example_of(schema.get("items", {}))]
        case other:
            return {"number": 0.5, "integer": 1, "boolean": True}.get(other, "because it is so")
