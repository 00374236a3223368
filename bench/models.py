"""What a judged item costs in the client, side by side with peers: items a second, and CPU a call.

A server that answers after 50 ms runs on one core, every client on another, each in a process of its own. The limit is
a bare aiohttp loop. Peers that are not installed are skipped with a line. `--quick` asks fewer items, `--ours` leaves
the peers out and prints every round.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

ITEMS, LATENCY = 2000, 0.05
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}, "explanation": {"type": "string"}},
    "required": ["score", "explanation"],
}
CONTEXT = "The museum opens at nine and closes at five; on Mondays it stays shut. " * 8
# deepeval's G-Eval reads `score` and `reason`; the others read `score` and `explanation`.
ANSWER = json.dumps({"score": 0.5, "reason": "It cites both.", "explanation": "It cites both.", "steps": ["Read it."]})
COMPLETION = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "judge",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}],
        "usage": {"prompt_tokens": 180, "completion_tokens": 20, "total_tokens": 200},
    }
).encode()


def prompt(number):
    return f"Item {number}. Is the answer grounded in the context?\n{CONTEXT}\nAnswer: It opens at nine."


def pinned(core):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})


def serve(sender):
    from aiohttp import web

    pinned(1)

    async def answer(request):
        await request.read()
        await asyncio.sleep(LATENCY)
        return web.Response(body=COMPLETION, content_type="application/json")

    async def main():
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        sender.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(main())


async def spread(ask, items, at_once):
    """`ask(number)` for every item, so many at a time, by workers that take the next."""
    numbers = iter(range(items))

    async def worker():
        for number in numbers:
            await ask(number)

    await asyncio.gather(*(worker() for _ in range(at_once)))


async def raw(url, items, at_once):
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(number):
            body = {
                "model": "judge",
                "messages": [{"role": "user", "content": prompt(number)}],
                "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
            }
            async with session.post(f"{url}/chat/completions", json=body) as response:
                payload = await response.json()
            json.loads(payload["choices"][0]["message"]["content"])

        await spread(ask, items, at_once)


async def bare(url, items, at_once):
    from calibrant.models import Request, connect

    model = connect("openai/judge", base_url=url)

    async def ask(number):
        await model.invoke(Request.of(prompt(number), schema=SCHEMA))

    await spread(ask, items, at_once)


async def full(url, items, at_once):
    from calibrant.models import Budget, Request, connect, wrapped
    from calibrant.store import Workspace

    with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
        source = connect("openai/judge", base_url=url, price=(1, 2), requests_per_minute=10**7, concurrency=at_once)
        model = wrapped(source, workspace=workspace, budget=Budget(usd=10**6, calls=10**9))

        async def ask(number):
            await model.invoke(Request.of(prompt(number), schema=SCHEMA))

        await spread(ask, items, at_once)


async def openai_package(url, items, at_once):
    from openai import AsyncOpenAI

    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}
    async with AsyncOpenAI(base_url=url, api_key="none") as client:

        async def ask(number):
            messages = [{"role": "user", "content": prompt(number)}]
            reply = await client.chat.completions.create(model="judge", messages=messages, response_format=form)
            json.loads(reply.choices[0].message.content)

        await spread(ask, items, at_once)


async def litellm_package(url, items, at_once):
    import litellm

    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}

    async def ask(number):
        reply = await litellm.acompletion(
            model="openai/judge",
            messages=[{"role": "user", "content": prompt(number)}],
            response_format=form,
            base_url=url,
            api_key="none",
        )
        json.loads(reply.choices[0].message.content)

    await spread(ask, items, at_once)


async def deepeval_geval(url, items, at_once):
    from deepeval.metrics import GEval
    from deepeval.models import GPTModel
    from deepeval.test_case import LLMTestCase, LLMTestCaseParams

    model = GPTModel(model="gpt-4.1", base_url=url, api_key="none")

    async def ask(number):
        metric = GEval(
            name="grounded",
            evaluation_steps=["Is the answer grounded in the context?"],
            evaluation_params=[LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT],
            model=model,
        )
        case = LLMTestCase(input=prompt(number), actual_output="It opens at nine.")
        await metric.a_measure(case, _show_indicator=False)

    await spread(ask, items, at_once)


CLIENTS = {
    "raw aiohttp loop": raw,
    "Calibrant, bare": bare,
    "Calibrant, every wrapper and the store": full,
    "openai": openai_package,
    "litellm": litellm_package,
    "deepeval GEval": deepeval_geval,
}
SLOW = {"deepeval GEval": 200, "litellm": 1000}


def measure(sender, name, url, items, at_once):
    """Run in a process of its own: warm up, then measure; sends what it took, or why it could not."""
    pinned(0)
    warnings.simplefilter("ignore")
    os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="YES", DEEPEVAL_PER_ATTEMPT_TIMEOUT_SECONDS_OVERRIDE="120")
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the life of this process
    sys.stderr = sys.stdout
    try:
        # The first call loads what is loaded lazily.
        asyncio.run(CLIENTS[name](url, 8, 8))
        began, cpu = time.perf_counter(), time.process_time()
        asyncio.run(CLIENTS[name](url, items, at_once))
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sender.send({"per_second": items / took, "cpu_ms": 1000 * cpu / items, "mb": memory})
    except ImportError as error:
        sender.send({"skipped": f"not installed ({error.name})"})
    except Exception as error:  # noqa: BLE001 - a peer may fail in any way; the table says so
        sender.send({"skipped": f"failed: {error!r}"[:200]})


def in_process(target, *arguments):
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(sender, *arguments), daemon=True)
    process.start()
    return receiver.recv(), process


def table(url, at_once, items):
    print(f"\n{at_once} at a time, the median of 3 rounds (peers 1)\n")
    print("| client | items/s | share of the raw loop | CPU ms an item |")
    print("|---|---|---|---|")
    results = {name: [] for name in CLIENTS}
    for turn in range(3):
        for name in list(CLIENTS)[: 3 if turn else None]:
            found, process = in_process(measure, name, url, min(items, SLOW.get(name, items)), at_once)
            process.join()
            results[name].append(found)
    limit = middle(results["raw aiohttp loop"])["per_second"]
    for name, found in results.items():
        one = middle(found)
        if "skipped" in one:
            print(f"| {name} | skipped: {one['skipped']} | | |")
        else:
            share = one["per_second"] / limit
            print(f"| {name} | {one['per_second']:.0f} | {share:.2f} | {one['cpu_ms']:.2f} |")


def rounds(url, at_once, items):
    print(f"\n{at_once} at a time, every round\n")
    for _ in range(3):
        results = {}
        for name in list(CLIENTS)[:3]:
            results[name], process = in_process(measure, name, url, items, at_once)
            process.join()
        limit = results["raw aiohttp loop"]["per_second"]
        for name, one in results.items():
            share = one["per_second"] / limit
            print(f"| {name} | {one['per_second']:.0f} | {share:.2f} | {one['cpu_ms']:.2f} |")


def middle(found):
    return sorted(found, key=lambda one: one.get("per_second", 0))[len(found) // 2]


def memory(url, *, quick):
    print("\nMemory of the whole client process, fully wrapped, 256 at a time\n")
    for items in (2000, 10_000 if quick else 100_000):
        found, process = in_process(measure, "Calibrant, every wrapper and the store", url, items, 256)
        process.join()
        print(f"- {items:,} items: {found['mb']:.0f} MB at most" if "mb" in found else f"- {found['skipped']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ours", action="store_true")
    options = parser.parse_args()
    quick = options.quick
    port, server = in_process(serve)
    url = f"http://127.0.0.1:{port}/v1"
    for at_once in (64, 256):
        if options.ours:
            rounds(url, at_once, 1500)
        else:
            table(url, at_once, 500 if quick else ITEMS)
    if not options.ours:
        memory(url, quick=quick)
    server.terminate()


if __name__ == "__main__":
    main()
