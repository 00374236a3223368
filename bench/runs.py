"""What a run costs: items a second with its workspace beside a raw loop and peers, and memory at a million items.

The server answers after 50 ms on one core, each client runs on another in a process of its own. Peers that are not
installed are skipped with a line. `--quick` rates fewer items.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import models as bench_models

AT_ONCE = 64
OURS = {"explanation": "It cites both.", "score": 2}
# deepeval reads `reason`, pydantic-evals `pass`, inspect-ai a grade at the end.
PEERS = {**OURS, "reason": "It cites both.", "pass": True, "verdict": "GRADE: C"}


def serve(sender, reply):
    payload = json.loads(bench_models.COMPLETION)
    payload["choices"][0]["message"]["content"] = json.dumps(reply)
    bench_models.COMPLETION = json.dumps(payload).encode()
    bench_models.serve(sender)


def item(number):
    return {"id": str(number), "answer": f"Item {number}. It opens at nine.", "contexts": [bench_models.CONTEXT]}


async def whole_run(url, items):
    from calibrant.metrics import RubricMetric
    from calibrant.models import connect
    from calibrant.runs import RunSettings, run_async

    judge = connect("openai/judge", base_url=url, api_key="none", price=(1, 2))
    with tempfile.TemporaryDirectory() as folder:
        settings = RunSettings(workspace=folder, concurrency=AT_ONCE)
        result = await run_async(
            [item(number) for number in range(items)], [RubricMetric("groundedness", models=judge)], settings=settings
        )
        assert result.metrics[0].pass_rate.n == items, result  # noqa: S101 - a bench that fails must not be counted
        result.close()


async def raw(url, items):
    await bench_models.raw(url, items, AT_ONCE)


async def deepeval_geval(url, items):
    await bench_models.deepeval_geval(url, items, AT_ONCE)


async def pydantic_evals_judge(url, items):
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import LLMJudge

    model = OpenAIChatModel("judge", provider=OpenAIProvider(base_url=url, api_key="none"))
    judge = LLMJudge(rubric="Is the answer grounded in the context?", model=model)
    cases = [Case(name=str(number), inputs=bench_models.prompt(number)) for number in range(items)]

    async def answer(question):
        return f"It opens at nine. {len(question)}"

    await Dataset(name="bench", cases=cases, evaluators=[judge]).evaluate(
        answer, max_concurrency=AT_ONCE, progress=False
    )


def inspect_judge(url):
    """A model of inspect-ai over bare aiohttp: its OpenAI provider wants a newer openai than the other peers."""
    import aiohttp
    from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model
    from inspect_ai.model import modelapi as registered

    class Bare(ModelAPI):
        session = None

        async def generate(self, input, tools, tool_choice, config):  # noqa: A002, ARG002 - inspect-ai's names
            self.session = self.session or aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
            messages = [{"role": one.role, "content": one.text} for one in input]
            async with self.session.post(f"{url}/chat/completions", json={"messages": messages}) as response:
                payload = await response.json()
            return ModelOutput.from_content("judge", payload["choices"][0]["message"]["content"])

        def max_connections(self):
            return AT_ONCE

        async def aclose(self):
            await self.session.close()

    registered(name="bare")(lambda: Bare)
    return get_model("bare/judge", config=GenerateConfig(max_connections=AT_ONCE), memoize=False)


async def inspect_graded(url, items):
    from inspect_ai import Task, eval_async
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import model_graded_qa
    from inspect_ai.solver import solver
    from inspect_ai.util._display import init_display_type

    init_display_type("none")

    @solver
    def answered():
        async def solve(state, _generate):
            state.output = ModelOutput.from_content("system", "It opens at nine.")
            return state

        return solve

    judge = inspect_judge(url)
    samples = [Sample(id=number + 1, input=bench_models.prompt(number), target="nine") for number in range(items)]
    task = Task(dataset=MemoryDataset(samples), solver=answered(), scorer=model_graded_qa(model=judge))
    with tempfile.TemporaryDirectory() as folder:
        limits = {"max_connections": AT_ONCE, "max_samples": AT_ONCE, "log_level": "error"}
        (log,) = await eval_async(task, model=judge, log_dir=folder, **limits)
        assert log.status == "success", log.error  # noqa: S101 - a bench that fails must not be counted
        assert log.results.scores[0].metrics["accuracy"].value == 1.0  # noqa: S101 - the same: every grade was read
    await judge.api.aclose()


CLIENTS = {
    "raw aiohttp loop": raw,
    "Calibrant, a whole run with its workspace": whole_run,
    "deepeval GEval": deepeval_geval,
    "pydantic-evals LLMJudge": pydantic_evals_judge,
    "inspect-ai model_graded_qa": inspect_graded,
}
SLOW = {"deepeval GEval": 200, "pydantic-evals LLMJudge": 400, "inspect-ai model_graded_qa": 400}


def measure(sender, name, url, items):
    bench_models.pinned(0)
    warnings.simplefilter("ignore")
    os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="YES", DEEPEVAL_PER_ATTEMPT_TIMEOUT_SECONDS_OVERRIDE="120")
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the life of this process
    sys.stderr = sys.stdout
    try:
        asyncio.run(CLIENTS[name](url, 8))
        began, cpu = time.perf_counter(), time.process_time()
        asyncio.run(CLIENTS[name](url, items))
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        sender.send({"per_second": items / took, "cpu_ms": 1000 * cpu / items})
    except ImportError as error:
        sender.send({"skipped": f"not installed ({error.name})"})
    except Exception as error:  # noqa: BLE001 - a peer may fail in any way; the table says so
        sender.send({"skipped": f"failed: {error!r}"[:200]})


def brief(one):
    return len(one.answer.split()) <= 50


def scripted():
    """A groundedness judge that always says the same, and remembers nothing of what it was asked."""
    from calibrant.metrics import RubricMetric
    from calibrant.models import BaseLMInvoker, Reply
    from calibrant.ratings import Usage

    class Always(BaseLMInvoker):
        name = "scripted/always"

        async def invoke(self, request):  # noqa: ARG002 - every answer is the same
            usage = Usage(calls=1, input_tokens=180, output_tokens=20)
            return Reply(text=json.dumps(OURS), data=OURS, mode="json_schema", model=self.name, usage=usage)

    return RubricMetric("groundedness", models=Always())


def stream(sender, items, judged):
    """A run over a file, by a function or by a scripted judge: its memory at most, and its seconds."""
    from calibrant.runs import RunSettings, run

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("id,query,answer,contexts\n")
            file.writelines(f"{number},Question {number}?,It opens at nine.,From nine.\n" for number in range(items))
        began = time.perf_counter()
        run(path, [scripted() if judged else brief], settings=RunSettings(workspace=folder)).close()
        took = time.perf_counter() - began
    sender.send({"mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "seconds": took})


def speed(ours, peers, items):
    print("| client | items/s | share of the raw loop | CPU ms an item |")
    print("|---|---|---|---|")
    results = {name: [] for name in CLIENTS}
    for turn in range(3):
        for name in list(CLIENTS)[: 2 if turn else None]:
            url = ours if name in list(CLIENTS)[:2] else peers
            found, process = bench_models.in_process(measure, name, url, min(items, SLOW.get(name, items)))
            process.join()
            results[name].append(found)
    limit = bench_models.middle(results["raw aiohttp loop"])["per_second"]
    for name, found in results.items():
        one = bench_models.middle(found)
        if "skipped" in one:
            print(f"| {name} | {one['skipped']} | | |")
        else:
            share = one["per_second"] / limit
            print(f"| {name} | {one['per_second']:.0f} | {share:.2f} | {one['cpu_ms']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    servers = [bench_models.in_process(serve, reply) for reply in (OURS, PEERS)]
    speed(*(f"http://127.0.0.1:{port}/v1" for port, _ in servers), items=500 if quick else 2000)
    for _, server in servers:
        server.terminate()
    for judged, title in ((False, "A function metric"), (True, "A scripted judge")):
        print(f"\n{title} over a CSV file, kept in a workspace\n")
        for items in (10_000, 100_000 if quick else 1_000_000):
            found, process = bench_models.in_process(stream, items, judged)
            process.join()
            print(f"- {items:,} items: {found['mb']:.0f} MB at most, {found['seconds']:.1f} s", flush=True)


if __name__ == "__main__":
    main()
