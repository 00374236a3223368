"""Text similarity: how many characters of two texts match, in order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from calibrant.alignment.scorers.ratios import ratios
from calibrant.alignment.scorers.similarity import SimilarityScorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["TextSimilarityScorer"]


class TextSimilarityScorer(SimilarityScorer):
    """The Ratcliff-Obershelp ratio of judge's and person's text, from 0 to 1: two empty texts are alike.

    It is `difflib.SequenceMatcher(None, judge, human, autojunk=False).ratio()`. With difflib's own default, common
    letters of texts over 200 characters count as junk, and near copies score next to nothing.
    """

    score_name = "text_similarity"

    def __init__(self) -> None:
        super().__init__(scorer_name="text_similarity")

    async def similarities(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """The ratio of each pair."""
        return np.asarray(await asyncio.to_thread(ratios, list(pairs)), float)
