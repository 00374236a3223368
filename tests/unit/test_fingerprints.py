import datetime as dt
import json
import pathlib
import subprocess
import sys
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from calibrant import Coverage
from calibrant.errors import WrongTypeError
from calibrant.fingerprints import canonical_json, fingerprint, plain_json


def test_key_order_does_not_matter():
    assert fingerprint({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint({"b": {"d": 3, "c": 2}, "a": 1})


def test_list_order_does():
    assert fingerprint([1, 2]) != fingerprint([2, 1])


def test_text_and_number_differ():
    assert fingerprint("1") != fingerprint(1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, "é"), '[1,"é"]'),
        ({"b", "a"}, '["a","b"]'),
        (frozenset({2, 1}), "[1,2]"),
        (float("nan"), '{"float":"nan"}'),
        (b"\x01", '{"bytes":"01"}'),
        (np.float64(0.5), "0.5"),
        (np.array([1, 2]), "[1,2]"),
        (dt.date(2026, 11, 18), '"2026-11-18"'),
        (dt.timedelta(days=3, seconds=1), '"3 days, 0:00:01"'),
        (pathlib.PurePosixPath("a/b"), '"a/b"'),
        (Decimal("1.50"), '"1.50"'),
        (Fraction(1, 3), '"1/3"'),
        (uuid.UUID(int=7), '"00000000-0000-0000-0000-000000000007"'),
        ({1: {"x"}}, '{"1":["x"]}'),
        (Coverage(rated=1), '{"codes":{},"failed":0,"not_applicable":0,"rated":1,"skipped":0}'),
    ],
)
def test_common_values_have_one_spelling(value, expected):
    assert canonical_json(value) == expected


def test_what_cannot_be_hashed_is_refused():
    with pytest.raises(WrongTypeError, match="cannot fingerprint a object"):
        fingerprint({"a": object()})


def test_what_was_made_plain_is_read_again_with_the_fingerprint_that_it_had():
    record = {
        "opened": dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC),
        "price": Decimal("1.50"),
        "tags": {"b", "a"},
        "gap": float("nan"),
    }
    assert fingerprint(json.loads(json.dumps(plain_json(record), allow_nan=False))) == fingerprint(record)


def test_half_a_surrogate_pair_is_hashed_too():
    assert fingerprint("\ud800").startswith("sha256:")


def test_another_process_finds_the_same():
    code = "from calibrant.fingerprints import fingerprint; print(fingerprint({'a': {1, 2}, 'b': 'é'}))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == fingerprint({"a": {1, 2}, "b": "é"})


def test_the_hash_is_sha_256_of_the_canonical_json():
    """printf '{"a":1}' | sha256sum, GNU coreutils 9.1."""
    assert fingerprint({"a": 1}) == "sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
