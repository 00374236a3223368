"""Writes the derived files of the demo's data: `python examples/demo/build.py` (the results are committed).

From the documents, answers.csv (questions, the documents that the assistant was given, both answers) and key.csv (which
answers are wrong, and why) it makes v1.jsonl and v2.jsonl, the labels of three annotators who do not exist, and the
rankings of two retrievers. qrels.txt is written by hand.
"""

from __future__ import annotations

import asyncio
import csv
import json
import math
import random
import re
from collections import Counter
from pathlib import Path

from calibrant.models import embed

FOLDER = Path(__file__).parent
DOCUMENTS = {path.stem: path.read_text(encoding="utf-8").strip() for path in sorted(FOLDER.glob("documents/*.txt"))}
VERSIONS = ("v1", "v2")
SEED = 7
LABELLED = 24  # of the 30 answers of each version, drawn at random: people never label everything
RANKED = 6

# How often each annotator passes an answer that is wrong, and fails one that is right.
ANNOTATORS = {"ana": (0.00, 0.02), "ben": (0.10, 0.05), "chi": (0.20, 0.02)}


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file beside this one."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(name: str, header: list[str], found: list[list[str]]) -> None:
    """A CSV file beside this one."""
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(found)


def write_items(version: str, questions: list[dict[str, str]]) -> None:
    """One version's answers, each with its question and what the assistant was given."""
    with (FOLDER / f"{version}.jsonl").open("w", encoding="utf-8") as file:
        for row in questions:
            contexts = [DOCUMENTS[name] for name in row["documents"].split()]
            item = {"id": row["id"], "query": row["question"], "contexts": contexts, "answer": row[version]}
            file.write(json.dumps(item, ensure_ascii=False) + "\n")


def write_labels(version: str, questions: list[dict[str, str]], wrong: set[tuple[str, str]]) -> None:
    """What each annotator says of a random part of the answers: the truth, but for the errors of ANNOTATORS."""
    draw = random.Random(f"{SEED} {version}")
    chosen = sorted(draw.sample([row["id"] for row in questions], LABELLED))
    found: list[list[str]] = []
    for name, (passes_wrong, fails_right) in ANNOTATORS.items():
        for item in chosen:
            is_wrong = (item, version) in wrong
            errs = draw.random() < (passes_wrong if is_wrong else fails_right)
            found.append([item, "supported", name, "yes" if is_wrong == errs else "no"])
    write_rows(f"labels-{version}.csv", ["item", "criterion", "annotator", "value"], found)


def words(text: str) -> list[str]:
    """The words of a text, in lower case, without a plural's s."""
    return [word.removesuffix("s") for word in re.findall(r"[a-z]+", text.lower())]


def by_words(question: str) -> dict[str, float]:
    """Each document's BM25 score (Robertson and Zaragoza 2009), with k1 = 1.2 and b = 0.75."""
    bags = {name: Counter(words(text)) for name, text in DOCUMENTS.items()}
    mean = sum(bag.total() for bag in bags.values()) / len(bags)
    scores = dict.fromkeys(bags, 0.0)
    for term in set(words(question)):
        holding = sum(term in bag for bag in bags.values())
        weight = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
        for name, bag in bags.items():
            length = 0.25 + 0.75 * bag.total() / mean
            scores[name] += weight * bag[term] * 2.2 / (bag[term] + 1.2 * length)
    return scores


def write_rankings(questions: list[dict[str, str]]) -> None:
    """What two retrievers return: words.run by BM25, meaning.run by the offline embedder."""
    texts = [*DOCUMENTS.values(), *(row["question"] for row in questions)]
    vectors = asyncio.run(embed(texts, model="local/wordllama"))
    cosines = vectors[len(DOCUMENTS) :] @ vectors[: len(DOCUMENTS)].T
    meanings = [dict(zip(DOCUMENTS, map(float, row), strict=True)) for row in cosines]
    ranked = {"words": [by_words(row["question"]) for row in questions], "meaning": meanings}
    for name, scored in ranked.items():
        with (FOLDER / f"{name}.run").open("w", encoding="utf-8") as file:
            for row, scores in zip(questions, scored, strict=True):
                best = sorted(scores, key=lambda document: -scores[document])[:RANKED]
                for rank, document in enumerate(best, start=1):
                    file.write(f"{row['id']} Q0 {document} {rank} {scores[document]:.4f} {name}\n")


def main() -> None:
    """Write every derived file."""
    questions = rows("answers.csv")
    wrong = {(row["id"], row["version"]) for row in rows("key.csv")}
    for version in VERSIONS:
        write_items(version, questions)
        write_labels(version, questions, wrong)
    write_rankings(questions)


if __name__ == "__main__":
    main()
