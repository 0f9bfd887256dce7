"""A headless Chromium (Debian's chromium-headless-shell or chromium), told what to do by the DevTools protocol over
two pipes."""
import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = "chromium-headless-shell", "chromium"


def find_program():
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="coldtrace-browser-", ignore_cleanup_errors=True)
        to_read, to_write = os.pipe(), os.pipe()
        command = [find_program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"]
        # The protocol is spoken on the descriptors 3 and 4.
        wrapper = f"exec 3<&{to_read[0]} 4>&{to_write[1]}; exec \"$@\""
        self.process = subprocess.Popen(["bash", "-c", wrapper, "bash", *command],
                                        pass_fds=(to_read[0], to_write[1]),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read[0])
        os.close(to_write[1])
        self.output, self.input = to_read[1], to_write[0]
        self.buffer = b""
        self.numbers = itertools.count(1)
        self.events = []

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.output)
        os.close(self.input)
        self.profile.cleanup()

    def call(self, method, session=None, timeout=60, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while True:
            answer = self.read(end)
            if answer.get("id") != number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise AssertionError(f"{method}: {answer['error']}")
            return answer["result"]

    def read(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError("the browser does not answer")
            more = os.read(self.input, 1 << 20)
            if not more:
                raise AssertionError("the browser is gone")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def page(self, path):
        return Page(self, path)


def start():
    """One that answers, or None."""
    if find_program() is None:
        return None
    browser = Browser()
    try:
        browser.call("Browser.getVersion")
        return browser
    except (AssertionError, OSError):
        browser.close()
        return None


class Page:
    """A file that is shown, and what it said to the console or asked of the network."""

    def __init__(self, browser, path, width=1280, height=900):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Page.navigate", url=path.resolve().as_uri())

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {expression}; {self.complaints()}")
            time.sleep(0.02)

    def media(self, name="", **features):
        self.call("Emulation.setEmulatedMedia", media=name,
                  features=[{"name": key.replace("_", "-"), "value": value} for key, value in features.items()])

    def key(self, key, text=None):
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "Enter": 13, "Escape": 27, "Tab": 9}
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        if text or len(key) == 1:
            down["text"] = text or key
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y, count=1):
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """What the console has, and requests that are not the file's own."""
        self.evaluate("0")
        said = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, details = event["method"], event["params"]
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                said.append((method, json.dumps(details)[:400]))
            if method == "Network.requestWillBeSent" and not details["request"]["url"].startswith(("file:", "data:")):
                said.append((method, details["request"]["url"]))
        return said
