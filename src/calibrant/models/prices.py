"""What calls cost: prices that the user gave, or those that genai-prices lists; an unknown price stays unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from calibrant.errors import InputError, shortened

__all__ = ["Price", "listed_price"]

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, read and written.

    >>> Price(2.5, 10).of(1000, 100)
    0.0035
    """

    input: float
    output: float

    def __post_init__(self) -> None:
        for number in (self.input, self.output):
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass texts
                raise InputError(f"a price is in US dollars per million tokens, 0 or more, not {shortened(number)}")

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost in US dollars."""
        return (self.input * input_tokens + self.output * output_tokens) / MILLION

    @classmethod
    def from_any(cls, price: Any) -> Price:
        """The price that a Price, a pair (input, output) or a mapping with these two names stands for."""
        if isinstance(price, Price):
            return price
        if isinstance(price, Mapping) and set(price) == {"input", "output"}:
            return cls(price["input"], price["output"])
        if isinstance(price, tuple | list) and len(price) == 2:
            return cls(price[0], price[1])
        raise InputError(
            f"a price is Price(input, output) in US dollars per million tokens, or such a pair, not {shortened(price)}"
        )


@lru_cache(maxsize=256)
def listed_price(provider: str, model: str) -> Price | None:
    """The list price that genai-prices (extra `[prices]`) has for a model; None when it has none or is not installed.

    It is the price of short prompts: dearer tiers for very long ones and discounts for repeated ones are left out.
    """
    try:
        import genai_prices
    except ImportError:
        return None
    try:
        rates = [
            genai_prices.calc_price(usage, model_ref=model, provider_id=provider).total_price
            for usage in (
                genai_prices.Usage(input_tokens=1000, output_tokens=0),
                genai_prices.Usage(input_tokens=0, output_tokens=1000),
            )
        ]
    except (LookupError, ValueError):
        return None
    return Price(float(rates[0]) * 1000, float(rates[1]) * 1000)
