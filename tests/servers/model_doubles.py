"""What the tests of wrappers share: a clock whose hands they move, a model with a price, ways to ask."""

import asyncio

from calibrant.errors import ModelCallError
from calibrant.models import BaseLMInvoker, Clock, Reply, Request

OPEN = Request.of("Open?", labels=("yes", "no"))


class Hands:
    """A clock whose hands move only when someone sleeps."""

    def __init__(self):
        self.time = 100.0
        self.slept = []
        self.clock = Clock(now=lambda: self.time, sleep=self._sleep, draw=lambda: 0.0)

    async def _sleep(self, seconds):
        self.slept.append(round(seconds, 3))
        self.time += seconds
        await asyncio.sleep(0)


class Costly(BaseLMInvoker):
    """A model with a price, whose replies take the tokens that they are told to."""

    def __init__(self, *, usage, price=None, delay=0.0):
        self.name = "test/costly"
        self.usage, self.price, self.delay = usage, price, delay
        self.calls = 0

    async def invoke(self, request):
        self.calls += 1
        await asyncio.sleep(self.delay)
        return Reply(text="yes", data="yes", usage=self.usage)

    def cost(self, input_tokens, output_tokens):
        return None if self.price is None else self.price.of(input_tokens, output_tokens)


def failure(code="provider_error", **more):
    return ModelCallError(f"it failed with {code}", code=code, **more)


def ask(model, *requests):
    async def all_of_them():
        return [await model.invoke(request) for request in requests or (OPEN,)]

    return asyncio.run(all_of_them())


def together(model, requests):
    async def at_once():
        return await asyncio.gather(*map(model.invoke, requests), return_exceptions=True)

    return asyncio.run(at_once())
