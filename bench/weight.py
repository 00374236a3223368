"""What an import weighs: CPU time and modules of starting Python and importing a package, beside `python -c pass`.

Each statement runs in nine interpreters, in turn with the others; the median counts. CPU seconds, not wall clock, as
machines are shared. A peer that is not installed is left out and named.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys

REPEATS = 9
STATEMENTS = {
    "pass": "pass",
    "import calibrant": "import calibrant",
    "... EvalInput, Estimate, BaseMetric": "from calibrant import EvalInput, Estimate, BaseMetric",
    "... score_agg": "from calibrant import score_agg",
    "calibrant --help": "import sys; sys.argv = ['calibrant', '--help']; from calibrant.cli import main; main()",
    "import inspect_ai": "import inspect_ai",
    "import deepeval": "import deepeval",
    "import ragas": "import ragas",
}


def cpu_seconds(statement: str) -> float | None:
    """CPU seconds, in user and system mode, of one interpreter that runs `statement`; None when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true"}
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(REPEATS):
        for name, statement in STATEMENTS.items():
            seconds = cpu_seconds(statement)
            if seconds is not None:
                times[name].append(seconds)
    base = statistics.median(times["pass"])
    print(f"{'statement':40}{'CPU ms':>10}{'times pass':>12}")
    for name, seconds in times.items():
        if len(seconds) < REPEATS:
            print(f"{name:40}{'not installed, or does not import':>22}")
        else:
            middle = statistics.median(seconds)
            print(f"{name:40}{1000 * middle:>10.1f}{middle / base:>12.1f}")


if __name__ == "__main__":
    main()
