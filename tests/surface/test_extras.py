"""The package works with no extra installed, and says which one to install when a part needs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name for name in PROJECT["optional-dependencies"] if name != "all"}
MODULES_OF_EXTRAS = {"matplotlib", "cydifflib", "xllamacpp", "wordllama", "genai_prices"}

WITHOUT_EXTRAS = f"""
import importlib, pkgutil, sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        absent = name.partition(".")[0] in {MODULES_OF_EXTRAS!r}
        return None if absent else self.finder.find_spec(name, path, target)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""


def without_extras(code):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS + code], capture_output=True, text=True, check=False, timeout=120
    )


def test_every_module_can_be_imported_without_any_extra():
    done = without_extras(
        "import calibrant\n"
        "for module in pkgutil.walk_packages(calibrant.__path__, 'calibrant.'):\n"
        "    if '__main__' not in module.name: importlib.import_module(module.name)\n"
    )
    assert done.returncode == 0, done.stderr


def test_all_holds_every_extra():
    listed = PROJECT["optional-dependencies"]["all"][0]
    assert set(listed.removeprefix("calibrant[").removesuffix("]").split(",")) == EXTRAS


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_extra_is_documented(extra):
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert any(f"[{extra}]" in page.read_text(encoding="utf-8") for page in pages)


DRAWING = """\
from pathlib import Path
from calibrant.report.charts import line_chart
line_chart({'judge': {'0.1': 0.5}}, Path('never.png'), mark=0.5)
"""


@pytest.mark.parametrize(
    ("extra", "work"),
    [
        ("charts", DRAWING),
        ("local", "from calibrant import connect\nconnect('local/smollm2')\n"),
        (
            "local",
            "from calibrant.models import embed\nimport asyncio\nasyncio.run(embed(['a'], model='local/wordllama'))\n",
        ),
    ],
)
def test_what_cannot_be_done_without_an_extra_says_how_to_install_it(extra, work):
    caught = "".join(f"    {line}\n" for line in work.splitlines())
    done = without_extras(
        f"from calibrant.errors import MissingExtraError\ntry:\n{caught}"
        "except MissingExtraError as error:\n    print(error, error.extra, sep='|')\n"
    )
    message, _, named = done.stdout.strip().rpartition("|")
    assert named == extra, done.stderr
    assert message.endswith(f"needs an optional part; install it with: pip install 'calibrant[{extra}]'")


def test_a_comparison_without_charts_says_so_once_and_in_its_report(tmp_path):
    done = without_extras(
        "from calibrant.alignment import *\n"
        f"project = MetaEvaluator({str(tmp_path)!r})\n"
        "project.add_external_judge_results({'a': 'yes', 'b': 'no'}, 'judge', task='safe')\n"
        "project.add_external_annotation_results({'a': 'yes', 'b': 'yes'}, 'kim', task='safe')\n"
        "scorers = {'one': AccuracyScorer(), 'two': AltTestScorer()}\n"
        "metrics = [MetricConfig(of, ['safe'], 'single', display_name=name) for name, of in scorers.items()]\n"
        "project.add_metrics_config(MetricsConfig(metrics))\n"
        "project.compare_async()\n"
        "print(project.score_report.to_text())\n"
    )
    note = "no chart was drawn of one, two: drawing charts needs an optional part; install it with: pip install"
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no chart was drawn") == 1
    assert note in done.stderr
    assert note in done.stdout


def test_text_similarity_has_the_same_numbers_without_its_extra():
    work = (
        "from calibrant.metrics import matching_ratio\n"
        "pairs = [('', ''), ('a', ''), ('the cat sat', 'the cat sat'), ('abcd', 'bcde'), ('ab ' * 80, 'ac ' * 80)]\n"
        "print([matching_ratio(*pair) for pair in pairs], 'cydifflib' in sys.modules)\n"
    )
    without = without_extras(work)
    assert without.returncode == 0, without.stderr
    with_it = subprocess.run([sys.executable, "-c", f"import sys\n{work}"], capture_output=True, text=True, check=True)
    assert without.stdout == with_it.stdout.replace("True", "False")
    assert "True" in with_it.stdout


def test_without_prices_money_is_unknown_unless_the_user_gives_them():
    done = without_extras(
        "from calibrant import connect\n"
        "from calibrant.models.prices import listed_price\n"
        "print(listed_price('openai', 'gpt-4o'))\n"
        "print(connect('openai/gpt-4o').cost(1000, 100))\n"
        "print(connect('openai/gpt-4o', price=(2.5, 10)).cost(1000, 100))\n"
    )
    assert done.stdout.split() == ["None", "None", "0.0035"], done.stderr
