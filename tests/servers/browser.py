"""A real browser, asked over its own protocol: opens a page, says what it fetched and complained of, and draws it."""

import asyncio
import base64
import json
import shutil
from contextlib import asynccontextmanager

import aiohttp

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
SETTINGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
)


class Tab:
    """One tab: `ask` puts a command of the DevTools protocol, `evaluate` an expression of the page's own."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.events = []

    async def ask(self, method, **parameters):
        self.number += 1
        mine = self.number
        await self.socket.send_json({"id": mine, "method": method, "params": parameters})
        while True:
            told = await self.socket.receive_json(timeout=30)
            if told.get("id") == mine:
                assert "error" not in told, told
                return told["result"]
            self.events.append(told)

    async def evaluate(self, expression):
        found = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def open(self, path, *, dark=False, width=1280, height=900):
        """Show the file at `path` as a screen of that size would, and wait until it is loaded."""
        for domain in ("Page", "Runtime", "Network", "Log"):
            await self.ask(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.ask("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.ask("Emulation.setDeviceMetricsOverride", **size)
        await self.ask("Page.navigate", url=path.resolve().as_uri())
        await self.evaluate(LOADED)

    async def press(self, key):
        number, text = KEYS[key]
        told = {"key": key, "code": key, "windowsVirtualKeyCode": number}
        await self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **told)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", **told)

    async def draw(self, path):
        """The whole page as a PNG."""
        size = (await self.ask("Page.getLayoutMetrics"))["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = await self.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def fetched(self):
        """The addresses of everything that the page asked for."""
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self):
        """What was written to the console or the log, and what was thrown."""
        told = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event for event in self.events if event["method"] in told]


LOADED = """new Promise((resolve) =>
    document.readyState === "complete" ? resolve() : addEventListener("load", () => resolve()))"""
KEYS = {"Tab": (9, ""), "Enter": (13, "\r")}


@asynccontextmanager
async def opened_tab(folder):
    """A tab of a browser that keeps its own things in `folder` and ends with the block."""
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *SETTINGS,
        f"--user-data-dir={folder}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        port = await _port(folder)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as reply:
                pages = [one for one in json.loads(await reply.text()) if one["type"] == "page"]
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Tab(socket)
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 20)


async def _port(folder):
    place = folder / "DevToolsActivePort"
    for _ in range(600):
        if place.exists() and place.read_text():
            return place.read_text().split()[0]
        await asyncio.sleep(0.05)
    raise AssertionError("the browser did not start within 30 s")
