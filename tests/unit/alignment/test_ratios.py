"""The Ratcliff-Obershelp ratio of many pairs: the standard library's numbers, each pair once, by several processes."""

import difflib
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.alignment.scorers import ratios as module
from calibrant.alignment.scorers.ratios import ratios

texts = st.text(alphabet="ab cé\n", max_size=12)


def standard(first, second):
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(texts, texts), max_size=8))
def test_ratios_are_those_of_the_standard_library_in_the_order_of_the_pairs(pairs):
    assert ratios(pairs) == [standard(first, second) for first, second in pairs]


def test_no_pairs_have_no_ratios():
    assert ratios([]) == []


def test_two_empty_texts_are_alike_and_one_is_not():
    assert ratios([("", ""), ("", "a"), ("a", "")]) == [1.0, 0.0, 0.0]


def test_long_texts_have_no_junk():
    first = "the cat sat on the mat and looked at the moon " * 12
    second = first.replace("moon", "sun")
    [found] = ratios([(first, second)])
    assert found == standard(first, second) > 0.9
    assert difflib.SequenceMatcher(None, first, second).ratio() < found


@pytest.mark.parametrize(
    ("first", "second", "matching"),
    [("abcd", "bcde", 3), ("kitten", "sitting", 4), ("abxcd", "abcd", 4), ("pennsylvania", "pencilvaneya", 8)],
)
def test_ratios_are_twice_the_matching_characters_over_all(first, second, matching):
    # Ratcliff and Metzener, Pattern Matching: The Gestalt Approach (1988): twice the matches over both lengths.
    assert ratios([(first, second)]) == [2 * matching / (len(first) + len(second))]


def test_much_work_is_shared_among_processes_and_gives_the_same(tmp_path):
    pairs = [(f"{number} " + "ab" * 900, "ba" * 900 + f" {number}") for number in range(16)]
    assert sum(len(first) * len(second) for first, second in pairs) > module.WORK_FOR_PROCESSES
    assert ratios(pairs) == module.matched(pairs)


def test_the_helper_process_reads_pairs_and_writes_ratios():
    pairs = [["kitten", "sitting"], ["ü", "u"], ["", ""]]
    done = subprocess.run(
        [sys.executable, "-m", "calibrant.alignment.scorers.ratios"],
        input=json.dumps(pairs), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [standard(first, second) for first, second in pairs]


def test_a_helper_that_died_leaves_its_part_to_this_process():
    dead = subprocess.Popen(
        [sys.executable, "-c", "print('no JSON')"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert module._finished(dead, [("ab", "ab")]) == [1.0]
    assert module._finished(None, [("ab", "cd")]) == [0.0]
