"""Six measures from files and dicts: CPU seconds and peak memory beside pytrec_eval, ranx and ir_measures.

Every cell is a process of its own; importing is not counted, and ranx, which compiles, measures a small part first.
`--full` adds 10,000 queries of 1,000 documents (10 million rows). CPU is user and system time over all threads. Last,
one query of ten documents through RetrievalMetricsCalculator, beside a loop in plain Python.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OURS = ["AP", "RR", "nDCG@10", "P@10", "R@100", "bpref"]
PYTREC = {"map", "recip_rank", "ndcg_cut.10", "P.10", "recall.100", "bpref"}
RANX = ["map", "mrr", "ndcg@10", "precision@10", "recall@100", "bpref"]
SIZES = [(1_000, 100), (10_000, 100)]
FULL = (10_000, 1_000)
ENGINES = {
    "TREC text": ["pytrec_eval", "calibrant", "calibrant_read", "ranx", "ir_measures"],
    "Parquet": ["calibrant_parquet"],
    "dict": ["pytrec_eval_dict", "calibrant_dict", "ranx_dict"],
}


def make_files(folder: Path, queries: int, depth: int) -> None:
    """A ranking sorted by score and qrels of about 100 documents a query, half of them retrieved."""
    import numpy as np
    import polars as pl

    draw = np.random.default_rng(7)
    judged = min(depth // 2, 50)
    with (folder / "run.trec").open("w") as run, (folder / "qrels.trec").open("w") as qrels:
        for query in range(queries):
            documents = draw.permutation(np.unique(draw.integers(0, 1_000_000, depth * 2)))[:depth]
            scores = np.sort(draw.gamma(2.0, 5.0, depth).round(6))[::-1]
            rows = zip(documents.tolist(), scores.tolist(), strict=True)
            run.writelines(
                f"q{query} Q0 doc-{one:07d} {rank} {score} bench\n" for rank, (one, score) in enumerate(rows)
            )
            pool = np.unique(np.concatenate([documents[:judged], draw.integers(0, 1_000_000, 50)]))
            grades = draw.integers(0, 4, len(pool)) * (draw.random(len(pool)) < 0.3)
            qrels.writelines(f"q{query} 0 doc-{one:07d} {grade}\n" for one, grade in zip(pool, grades, strict=True))
    fields = ["query", "Q0", "document", "rank", "score", "tag"]
    lazy = pl.scan_csv(folder / "run.trec", separator=" ", has_header=False, with_column_names=lambda _: fields)
    lazy.select("query", "document", "score").sink_parquet(folder / "run.parquet")


def dicts(folder: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels and ranking as dicts of dicts; equal ids are one text, as an application has them."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.trec").open():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[sys.intern(document)] = int(grade)
    for line in (folder / "run.trec").open():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[sys.intern(document)] = float(score)
    return qrels, run


def means(results: dict[str, dict[str, float]]) -> list[float]:
    """pytrec_eval's values averaged over its queries, in the order of OURS."""
    names = ["map", "recip_rank", "ndcg_cut_10", "P_10", "recall_100", "bpref"]
    return [sum(values[name] for values in results.values()) / len(results) for name in names]


def pytrec_eval(folder: Path):
    import pytrec_eval as peer

    yield
    with (folder / "qrels.trec").open() as qrels_file, (folder / "run.trec").open() as run_file:
        qrels, run = peer.parse_qrel(qrels_file), peer.parse_run(run_file)
    yield
    yield means(peer.RelevanceEvaluator(qrels, PYTREC).evaluate(run))


def pytrec_eval_dict(folder: Path):
    import pytrec_eval as peer

    qrels, run = dicts(folder)
    yield
    yield
    yield means(peer.RelevanceEvaluator(qrels, PYTREC).evaluate(run))


def warm_calibrant():
    from calibrant.retrieval import measure

    measure({"q": {"a": 1}}, {"q": {"a": 1.0}}, OURS).estimates  # noqa: B018 - loads what is loaded when first used
    return lambda *given: [estimate.value for estimate in measure(*given, OURS).estimates.values()]


def calibrant(folder: Path):
    measure = warm_calibrant()
    yield
    yield
    yield measure(folder / "qrels.trec", folder / "run.trec")


def calibrant_read(folder: Path):
    from calibrant.retrieval import read_qrels, read_ranking

    measure = warm_calibrant()
    yield
    given = read_qrels(folder / "qrels.trec"), read_ranking(folder / "run.trec")
    yield
    yield measure(*given)


def calibrant_parquet(folder: Path):
    measure = warm_calibrant()
    yield
    yield
    yield measure(folder / "qrels.trec", folder / "run.parquet")


def calibrant_dict(folder: Path):
    measure = warm_calibrant()
    given = dicts(folder)
    yield
    yield
    yield measure(*given)


def ranx(folder: Path):
    import ranx as peer

    for kind, name in ((peer.Qrels, "qrels.trec"), (peer.Run, "run.trec")):
        (folder / "few.trec").write_text("".join((folder / name).open().readlines()[:1000]))
        kind.from_file(str(folder / "few.trec"), kind="trec")
    warm_ranx(peer)
    yield
    given = peer.Qrels.from_file(str(folder / "qrels.trec"), kind="trec"), peer.Run.from_file(str(folder / "run.trec"))
    yield
    yield list(peer.evaluate(*given, RANX, make_comparable=True).values())


def ranx_dict(folder: Path):
    import ranx as peer

    qrels, run = dicts(folder)
    warm_ranx(peer)
    yield
    given = peer.Qrels(qrels), peer.Run(run)
    yield
    yield list(peer.evaluate(*given, RANX, make_comparable=True).values())


def warm_ranx(peer) -> None:
    few = {f"q{query}": {f"d{document}": document for document in range(9)} for query in range(9)}
    scores = {query: {document: float(score) for document, score in found.items()} for query, found in few.items()}
    peer.evaluate(peer.Qrels(few), peer.Run(scores), RANX, make_comparable=True)


def ir_measures(folder: Path):
    import ir_measures as peer

    asked = [peer.parse_measure(text) for text in ("AP", "RR", "nDCG@10", "P@10", "R@100", "Bpref")]
    yield
    qrels = list(peer.read_trec_qrels(str(folder / "qrels.trec")))
    run = list(peer.read_trec_run(str(folder / "run.trec")))
    yield
    found = peer.calc_aggregate(asked, qrels, run)
    yield [found[one] for one in asked]


def work(engine: str, folder: Path) -> None:
    """One cell: CPU seconds of loading and of measuring, the process's peak memory, and the six means."""
    steps = globals()[engine](folder)
    next(steps)
    before = time.process_time()
    next(steps)
    loaded = time.process_time()
    values = next(steps)
    done = time.process_time()
    print(json.dumps({"load": loaded - before, "compute": done - loaded, "peak": peak_mebibytes(), "means": values}))


def peak_mebibytes() -> float:
    """The peak of this program's memory; getrusage would count what its parent held when it started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cell(engine: str, folder: Path, repeats: int) -> dict:
    """The repeat that took the least CPU."""
    command = [sys.executable, __file__, "--work", engine, str(folder)]
    found = [json.loads(subprocess.check_output(command).splitlines()[-1]) for _ in range(repeats)]
    return min(found, key=lambda one: one["load"] + one["compute"])


def table(queries: int, depth: int, repeats: int) -> None:
    print(f"\n{queries:,} queries x {depth:,} documents, six measures; the least of {repeats} runs\n")
    print(
        "| from | engine | load CPU s | measure CPU s | total | x pytrec_eval | peak MiB | x pytrec_eval | differs by |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, queries, depth)
        first = cell("pytrec_eval", folder, repeats)
        for source, engines in ENGINES.items():
            base = cell("pytrec_eval_dict", folder, repeats) if source == "dict" else first
            for engine in engines:
                if queries * depth > 1_000_000 and engine == "ir_measures":
                    continue  # it holds every row as a Python object: minutes, and gigabytes
                known = {"pytrec_eval": first, "pytrec_eval_dict": base}
                print_row(source, engine, known.get(engine) or cell(engine, folder, repeats), base)


def print_row(source: str, engine: str, found: dict, base: dict) -> None:
    total, base_total = found["load"] + found["compute"], base["load"] + base["compute"]
    difference = max(abs(one - other) for one, other in zip(found["means"], base["means"], strict=True))
    times = f"{found['load']:.2f} | {found['compute']:.2f} | {total:.2f} | {total / base_total:.2f}"
    peak = f"{found['peak']:.0f} | {found['peak'] / base['peak']:.2f}"
    print(f"| {source} | {engine} | {times} | {peak} | {difference:.0e} |", flush=True)


def plain_loop(retrieved: list, relevant: list[str], k: int) -> dict[str, float]:
    """The six metrics of one list as one would write them by hand, with nothing checked."""
    wanted = set(relevant)
    hits = first = 0
    gain = 0.0
    for rank, item in enumerate(retrieved[:k], 1):
        if item.id in wanted:
            hits += 1
            first = first or rank
            gain += 1 / math.log2(rank + 1)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), k) + 1))
    precision, recall = hits / min(len(retrieved), k), hits / len(wanted)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    reciprocal = 1 / first if first else 0.0
    return {"p": precision, "r": recall, "f1": f1, "mrr": reciprocal, "ndcg": gain / ideal, "hit": float(hits > 0)}


def microseconds(work, calls: int = 20_000, repeats: int = 9) -> float:
    found = []
    for _ in range(repeats):
        before = time.process_time()
        for _ in range(calls):
            work()
        found.append(time.process_time() - before)
    return min(found) / calls * 1e6


def one_query() -> None:
    from calibrant.retrieval import ContextItem, RetrievalMetricsCalculator

    items, relevant = [ContextItem(id=f"d{number}") for number in range(10)], ["d2", "d5", "d77"]
    calculator = RetrievalMetricsCalculator(k=10)
    loop = microseconds(lambda: plain_loop(items, relevant, 10))
    ours = microseconds(lambda: calculator.evaluate(items, relevant))
    print("\n| one query of 10 documents | CPU microseconds | x loop |\n|---|---|---|")
    print(
        f"| loop in plain Python | {loop:.2f} | 1.00 |\n| RetrievalMetricsCalculator | {ours:.2f} | {ours / loop:.2f} |"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--full", action="store_true")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--work", nargs=2)
    chosen = options.parse_args()
    if chosen.work:
        work(chosen.work[0], Path(chosen.work[1]))
        return
    for queries, depth in SIZES:
        table(queries, depth, chosen.repeats)
    if chosen.full:
        table(*FULL, repeats=2)
    one_query()


if __name__ == "__main__":
    main()
