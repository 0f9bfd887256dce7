"""What `coldtrace report` writes of a trace: every figure of the page is that of the command that tells more, its
timeline is the turns of `trace schedule`, and nothing of a file is markup.

usage: report.py COLDTRACE SOURCES SHARED MAKE_SCENARIO_ETL [arguments of unittest]
"""
import csv
import functools
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import browser
from case import existing
from cli.trace.analysis.answers import answer_of, runner
from cli.trace.etl_writer import EtlWriter
from cli.report.page.page_reader import Page

COLDTRACE, SOURCES, SHARED, MAKE_SCENARIO_ETL = (Path(a).resolve() for a in sys.argv[1:5])
SCENARIOS = ("server", "deadlock-2", "priority-inversion", "disk-bursts", "losses", "id-reuse", "system-calls",
             "vxd-services")
REAL = "pv_net.4.5.2.x64.etl", "dp_vsgc.etl"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&.exe"

run = runner(COLDTRACE)


@functools.lru_cache(maxsize=64)
def answer(*arguments):
    return answer_of(run("trace", *arguments, "--format", "json"), 0, 1)


@functools.lru_cache(maxsize=64)
def page_of(path, *options):
    done = run("report", path, *options)
    assert done.returncode in (0, 1), done.stderr.decode()
    return Page(done.stdout)


def setUpModule():
    Case.folder = Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, Case.folder)


class Case(unittest.TestCase):
    folder = None

    def made_run(self, name):
        path = self.folder / f"{name}.ctrace"
        if not path.exists():
            assert run("trace", "synthesize", name, "--seed", 3, "-o", path).returncode == 0
        return path

    def made_etl(self, name):
        path = self.folder / f"{name}.etl"
        if not path.exists():
            subprocess.run([MAKE_SCENARIO_ETL, name, "3", "0", "4", path, "100"], check=True)
        return path

    def traces(self):
        for name in SCENARIOS:
            yield self.made_run(name)
        for name in "server", "disk-bursts":
            yield self.made_etl(name)
        yield from existing(self, (SHARED / "samples/etl" / name for name in REAL))


class Figures(Case):
    """Against the answers of the single commands."""

    def test_tables_have_what_the_commands_say(self):
        for path in self.traces():
            with self.subTest(trace=path.name):
                page = page_of(path)
                top = answer("top", path, "--top", 250)
                self.processes(page, top["processor"])
                self.threads(page, answer("schedule", path)["threads"])
                self.services(page, answer("services", path)["services"])
                self.waits(page, top["waits"])
                self.requests(page, top)
                self.findings(page, top)
                self.assertEqual(len(re.findall(rb"<li>", self.tree_of(page))),
                                 min(2000, len(answer("tree", path)["processes"])))

    @staticmethod
    def tree_of(page):
        found = re.search(rb"<section id=\"tree\".*?</section>", page.bytes, re.S)
        return found[0] if found else b""

    def processes(self, page, told):
        if told is None:
            self.assertNotIn("processes-table", page.tables)
            return
        rows = told["processes"]
        self.assertEqual(page.figures("processes-table", "Running"),
                         [-1 if row["running"] is None else row["running"] for row in rows])
        self.assertEqual(page.figures("processes-table", "Sampled"),
                         [-1 if row["sampled"] is None else row["sampled"] for row in rows])
        for name, row in zip(page.column("processes-table", "Process"), rows):
            self.assertIn(row["process"] or "", name)
            if row["pid"] is not None:
                self.assertIn(f"({row['pid']})", name)
        if told["drivers"]:
            self.assertEqual(page.figures("drivers-table", "In DPCs"), [row["dpc_time"] for row in told["drivers"]])
            self.assertEqual(page.figures("drivers-table", "ISRs"), [row["isrs"] for row in told["drivers"]])

    def threads(self, page, told):
        ran = sorted((one for one in told if one["turns"] > 0 and one["idle_cpu"] is None),
                     key=lambda one: -one["running"])
        self.assertEqual("threads-table" in page.tables, bool(ran))
        if not ran:
            return
        columns = {name: page.figures("threads-table", name.title()) for name in
                   ("turns", "running", "ready", "waiting", "off")}
        self.assertEqual(columns["running"], [one["running"] for one in ran[:250]])
        known = {tuple(one[name] for name in columns) for one in ran}
        self.assertLessEqual(set(zip(*columns.values())), known)

    def services(self, page, told):
        self.assertEqual("services-table" in page.tables, bool(told))
        if not told:
            return
        rows = sorted(told, key=lambda one: -one["inclusive"])[:250]
        self.assertEqual(page.figures("services-table", "Inclusive"), [one["inclusive"] for one in rows])
        names = {"Calls": "calls", "Exclusive": "exclusive", "Median": "p50", "99 %": "p99", "Longest": "longest"}
        shown = list(zip(*(page.figures("services-table", name) for name in names)))
        for one in shown:
            self.assertIn(one, [tuple(-1 if row[name] is None else row[name] for name in names.values())
                                for row in told])

    def waits(self, page, told):
        if told is None or not told["longest"]:
            self.assertNotIn("waits-table", page.tables)
            return
        self.assertEqual(page.figures("waits-table", "Length"), [one["duration"] for one in told["longest"]])
        self.assertEqual(page.column("waits-table", "Event"),
                         ["{buffer:#x}+{offset:#x}".format(**one["event"]) for one in told["longest"]])
        for cell, one in zip(page.column("waits-table", "Waited for"), told["longest"]):
            self.assertIn(one["reason"] or "", cell)

    def requests(self, page, top):
        for section, name, time in ("disk", "disk", "response"), ("file_operations", "files", "duration"):
            told = top[section]
            self.assertEqual(f"{name}-by-file" in page.tables, told is not None)
            if told is None:
                continue
            for by, rows in ("process", told["processes"]), ("file", told["files"]):
                table = f"{name}-by-{by}"
                self.assertEqual(page.figures(table, "Time"), [row[time] for row in rows])
                self.assertEqual(page.figures(table, "Read"), [row["bytes_read"] for row in rows])
                self.assertEqual(page.figures(table, "Written"), [row["bytes_written"] for row in rows])
        if top["network"]:
            self.assertEqual(page.figures("network-table", "Sent"),
                             [row["bytes_sent"] for row in top["network"]["processes"]])

    def findings(self, page, top):
        text = "".join(page.text)
        for one in top["findings"]:
            if one["code"] != "no-match":  # a page has more than what the other command looks for
                self.assertIn(one["code"], text)

    def test_idle_times_and_what_if(self):
        for path in self.traces():
            with self.subTest(trace=path.name):
                page = page_of(path)
                facts = page.data().facts["idle"]
                timeouts = [factor * 10 ** power for power in range(6) for factor in (1, 2, 5)]
                devices = answer("idle", path, "--idle-timeout", ",".join(map(str, timeouts)))["devices"]
                self.assertEqual(len(facts), len(devices))
                for fact, device in zip(facts, devices):
                    self.assertEqual(fact["timeouts"], [one["timeout"] for one in device["savings"]])
                    self.assertEqual(fact["off"], [one["off"] for one in device["savings"]])
                    self.assertEqual(fact["spinUps"], [one["spin_ups"] for one in device["savings"]])
                    self.assertEqual(fact["waiting"], [one["waiting"] for one in device["savings"]])
                    if device["device"] != "processor":
                        self.assertEqual(page.figures(f"{fact['id']}-table", "Off"), fact["off"])
                if devices:
                    self.assertEqual(page.figures("idle-table", "Idle"), [one["idle"] for one in devices])

    def test_use_over_time_is_all_of_the_busy_time(self):
        count = 0
        for path in self.traces():
            page = page_of(path)
            processors = answer("schedule", path)["processors"]
            if "use-processors" not in page.tables:
                continue
            count += 1
            with self.subTest(trace=path.name):
                busy = sum(one["busy"] for one in processors)
                # Each step is rounded down to a unit.
                told = sum(page.figures("use-processors", "Busy"))
                self.assertLessEqual(told, busy + len(processors))
                self.assertGreaterEqual(told, busy - 480 - len(processors))
                # Up to the last event, also where nothing was busy any more.
                elapsed = answer("schedule", path)["elapsed"]
                for table in page.tables:
                    if table.startswith("use-"):
                        self.check_steps(page, table, elapsed, len(processors) if table == "use-processors" else 1)
        self.assertGreater(count, 5)

    def check_steps(self, page, table, elapsed, devices):
        begins, busy, shares = (page.figures(table, name) for name in ("From", "Busy", "Share"))
        ends = [*begins[1:], elapsed]
        widths = [end - begin for begin, end in zip(begins, ends)]
        self.assertEqual(begins[0], 0)
        self.assertTrue(all(abs(width - widths[0]) <= 24 for width in widths[:-1]), widths)
        self.assertTrue(0 < widths[-1] <= widths[0] + 24, widths)
        for width, time, share in zip(widths, busy, shares):
            self.assertAlmostEqual(share, time / (width * devices), delta=0.001 + 24 / width)

    def test_flame_graphs_have_the_times_of_the_stacks(self):
        count = 0
        for path in self.traces():
            for drawn, nodes in page_of(path).data().flames:
                count += 1
                kind = drawn["id"].removeprefix("flame-")
                lines = run("trace", "cpu", path, "--format", "collapsed", "--of", kind).stdout.decode()
                wanted = sum(int(line.rsplit(" ", 1)[1]) // 100 for line in lines.splitlines())
                with self.subTest(trace=path.name, kind=kind):
                    self.assertAlmostEqual(nodes[0][2], wanted, delta=len(lines.splitlines()) + 1)
                    below = [0] * len(nodes)
                    for number, (parent, name, total) in enumerate(nodes[1:], 1):
                        self.assertLess(parent, number)
                        self.assertLess(name, len(drawn["names"]))
                        below[parent] += total
                    for number, total in enumerate(below):
                        self.assertLessEqual(total, nodes[number][2] + len(nodes))
        self.assertGreater(count, 5)


class Timeline(Case):
    """Against the turns of `trace schedule --format csv`."""

    @staticmethod
    def turns(path):
        for row in csv.DictReader(io.StringIO(run("trace", "schedule", path, "--format", "csv").stdout.decode())):
            if row["Next Switch-Out Time (s)"] and row["New Process"] != "Idle" and row["New Thread Id"] != "0":
                yield row

    @staticmethod
    def units(seconds):
        return round(float(seconds) * 10**7)

    def test_slices_are_turns(self):
        compared = 0
        for path in self.traces():
            data = page_of(path).data()
            facts = data.facts
            self.assertTrue(facts["details"])
            with self.subTest(trace=path.name):
                shown = {}
                for cpu, lane in enumerate(data.lanes):
                    for one in lane:
                        if one["thread"]:
                            shown[cpu, one["begin"], one["end"], facts["threads"][one["thread"] - 1][1]] = one
                turns = {(int(row["CPU"]), self.units(row["Switch-In Time (s)"]),
                          self.units(row["Next Switch-Out Time (s)"]), int(row["New Thread Id"])): row
                         for row in self.turns(path)}
                self.assertEqual(set(shown), set(turns))
                for key, row in turns.items():
                    self.compare(shown[key], row, facts)
                compared += len(turns)
        self.assertGreater(compared, 400)

    def compare(self, one, row, facts):
        ready = row["Ready Time (s)"]
        self.assertEqual(one["latency"] > 0, bool(ready))
        if ready:
            self.assertEqual(one["latency"] - 1, one["begin"] - self.units(ready))
        waker = row["Readying Thread Id"]
        if one["waker"] > 1:
            self.assertEqual(str(facts["threads"][one["waker"] - 2][1]), waker)
        if row["New In Pri"]:
            self.assertEqual(one["priority"], int(row["New In Pri"]))

    def test_lanes_are_in_order_and_lose_no_time(self):
        for path in self.traces():
            data = page_of(path).data()
            processors = answer("schedule", path)["processors"]
            for cpu, lane in enumerate(data.lanes):
                at = 0
                for one in lane:
                    self.assertGreaterEqual(one["begin"], at)
                    at = one["end"]
                self.assertLessEqual(at, data.facts["duration"])
                busy = sum(one["busy"] for one in lane)
                self.assertAlmostEqual(busy, processors[cpu]["busy"], delta=len(lane) + 1)

    def test_a_small_page_joins_slices_and_says_so(self):
        path = self.made_run("server")
        whole = page_of(path).data()
        page = page_of(path, "--size-limit", 1)
        self.assertLess(len(page.bytes), len(page_of(path).bytes) + 1000)
        for limit in len(page.bytes), len(page.bytes) - 1:
            done = run("report", path, "--size-limit", limit)
            told = f"warning: page-size: the page has {len(done.stdout)} bytes, more than --size-limit"
            self.assertEqual((done.returncode, told in done.stderr.decode()),
                             (1, True) if len(done.stdout) > limit else (0, False))
        self.assertGreater(len(done.stdout), limit)
        long = EtlWriter(1)
        long.process(0, 0, 100, "busy.exe")
        for tid in 104, 108:
            long.thread(0, 1, 100, tid)
        moment, tids, buffers, generator = 10, (104, 108), [], random.Random(1)
        for i in range(70_000):
            if i % 1000 == 999:
                buffers.append(long.take(0))
            long.switch(0, moment, tids[i % 2], tids[(i + 1) % 2])
            moment += generator.randrange(5, 3000)
        trace = self.folder / "long.etl"
        trace.write_bytes(long.build([*buffers, long.take(0)]))
        page = page_of(trace, "--size-limit", "1")
        data = page.data()
        self.assertFalse(data.facts["details"])
        self.assertIn("are drawn as one", "".join(page.text))
        self.assertIn("left out to limit the size of the page", "".join(page.text))
        self.assertLess(sum(map(len, data.lanes)), 70_000)
        processors = answer("schedule", trace)["processors"]
        self.assertEqual(sum(one["busy"] for one in data.lanes[0]), processors[0]["busy"])
        self.assertEqual(sum(one["turns"] for one in data.lanes[0] if one["thread"]), 69_999)
        self.assertTrue(whole.facts["details"])


class Inputs(Case):
    def test_what_it_reads_is_what_a_file_of_another_kind_is_not(self):
        wanted = "not a trace, NTFS image or snapshot, hook table or system call map"
        text = " ".join(run("report", "--help").stdout.decode().split()).lower()
        for noun in "trace", "image", "snapshot", "hook table", "system call map":
            self.assertIn(noun, text)
        path = self.folder / "other"
        for content, told in ((b"a text\n" * 100, f"it is a text file, {wanted}"), (b"\x7fELF" + bytes(100), wanted),
                              (b"\1\2\3\4" * 100, f"{wanted}: ")):
            path.write_bytes(content)
            for extra in [], [self.made_run("server")]:
                done = run("report", path, *extra)
                self.assertEqual(done.returncode, 1 if extra else 2, done.stderr)
                self.assertIn(told, done.stderr.decode())
            # Of commands that read traces alone the sentence stays.
            self.assertIn(", not an .etl or .ctrace file" if "it is" in told else "not an .etl or .ctrace file",
                          run("trace", "info", path).stderr.decode())


class HostileCase(Case):
    def hostile_trace(self):
        path = self.folder / "hostile.etl"
        writer = EtlWriter(2)
        writer.process(0, 0, 100, HOSTILE)
        writer.thread(0, 1, 100, 104)
        writer.switch(0, 10, 0, 104)
        writer.switch(0, 5000, 104, 0)
        writer.switch(1, 20, 0, 108)
        writer.switch(1, 6000, 108, 0)
        path.write_bytes(writer.build())
        return path


class Safety(HostileCase):
    def test_the_policy_names_the_only_script_and_style(self):
        page = page_of(self.made_run("server"))
        scripts = [text for attributes, text in page.scripts if "type" not in attributes]
        self.assertEqual(len(scripts), 1)
        self.assertEqual(page.hashes("script"), [page.hash_of(scripts[0])])
        self.assertEqual(page.hashes("style"), [page.hash_of(page.styles[0])])
        self.assertIn("default-src 'none'", page.policy)
        self.assertEqual(page.tags & {"iframe", "object", "embed", "link", "form", "base", "img"}, set())
        self.assertEqual({name for name in page.attributes if name.startswith("on") or name == "style"}, set())
        for word in "eval(", "innerHTML", "insertAdjacentHTML", "document.write", "new Function", "http://", "https://":
            self.assertNotIn(word, scripts[0].replace("http://www.w3.org/2000/svg", ""))

    def test_every_link_leads_to_a_section(self):
        for path in self.traces():
            page = page_of(path)
            self.assertEqual(len(page.ids), len(set(page.ids)))
            for link in page.links:
                self.assertIn(link.removeprefix("#"), page.ids)

    def test_the_same_input_is_the_same_page(self):
        path = self.made_run("server")
        other = self.folder / "elsewhere"
        other.mkdir(exist_ok=True)
        shutil.copy(path, other / "named-otherwise.ctrace")
        first = run("report", path, "-j", 1).stdout
        self.assertEqual(run("report", other / "named-otherwise.ctrace", "-j", 3).stdout, first)
        host = os.uname().nodename.encode()
        secrets = [str(self.folder).encode(), b"server.ctrace"]
        # A short one may be a word of the page.
        secrets += [host] if len(host) > 11 else []
        for secret in secrets:
            self.assertNotIn(secret, first)

    def test_names_are_text(self):
        page = page_of(self.hostile_trace())
        shown = HOSTILE
        self.assertTrue(any(shown in cell for cell in page.column("processes-table", "Process")))
        self.assertEqual(len(page.scripts), 2)
        self.assertNotIn("img", page.tags)
        self.assertIn(shown, [name for name, _ in page.data().facts["processes"]])

    def test_nothing_to_show_is_said(self):
        path = self.folder / "empty.etl"
        writer = EtlWriter(1)
        writer.perfinfo(0, 0x0F66, 2, 5, bytes(16))  # of no kind that a page shows
        path.write_bytes(writer.build())
        done = run("report", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)
        self.assertIn("no-match", "".join(Page(done.stdout).text))

    def test_damaged_traces_give_pages(self):
        generator = random.Random(20)
        content = self.made_etl("server").read_bytes()
        path = self.folder / "damaged.etl"
        written = 0
        for _ in range(60):
            damaged = bytearray(content)
            for _ in range(generator.choice((1, 4, 40))):
                at = generator.randrange(len(damaged))
                damaged[at:at + 4] = generator.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", generator.randbytes(4)))
            path.write_bytes(damaged[:generator.choice((len(damaged), generator.randrange(len(damaged))))])
            done = run("report", path)
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)
            if done.returncode != 2:
                Page(done.stdout).data()
                written += 1
        self.assertGreater(written, 20)


class InBrowser(HostileCase):
    """What a reader sees and does."""

    @classmethod
    def setUpClass(cls):
        cls.browser = browser.start()
        if not cls.browser:
            raise unittest.SkipTest("no Chromium is here that starts (chromium-headless-shell)")
        cls.addClassCleanup(cls.browser.close)

    def shown(self, path, *options):
        file = self.folder / (Path(path).stem + ".html")
        self.assertIn(run("report", path, *options, "-o", file).returncode, (0, 1))
        page = self.browser.page(file)
        self.addCleanup(page.close)
        page.media(prefers_reduced_motion="reduce")
        page.wait_for("document.body && document.body.dataset.ready === '1'")
        return page

    def clean(self, page):
        self.assertEqual(page.complaints(), [])

    def no_overflow(self, page):
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"),
                             page.evaluate("document.documentElement.clientWidth"))

    def test_every_trace_opens_without_a_word_and_fits(self):
        for path in self.traces():
            with self.subTest(trace=path.name):
                page = self.shown(path)
                self.clean(page)
                for width in 390, 1280:
                    page.resize(width, 844)
                    self.no_overflow(page)
                page.media("print")
                page.resize(794, 1123)
                self.no_overflow(page)

    def test_hostile_names_stay_text(self):
        page = self.shown(self.hostile_trace())
        self.clean(page)
        self.assertEqual(page.evaluate("document.scripts.length"), 2)
        self.assertEqual(page.evaluate("document.images.length"), 0)

    def test_the_timeline_zooms_searches_and_tells(self):
        page = self.shown(self.made_run("server"))
        canvas = "document.querySelector('canvas')"
        drawing = f"{canvas}.toDataURL()"
        page.evaluate(f"{canvas}.focus()")
        settle = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"

        def look():
            page.evaluate(settle)
            return page.evaluate(drawing)

        whole = look()
        page.key("+")
        near = look()
        self.assertNotEqual(near, whole)
        page.key("ArrowRight")
        self.assertNotEqual(look(), near)
        page.key("Home")
        self.assertEqual(look(), whole)
        page.key("/")
        self.assertEqual(page.evaluate("document.activeElement.type"), "search")
        page.type("server")
        self.assertNotEqual(look(), whole)
        self.assertRegex(page.evaluate("document.querySelector('#timeline-view output').textContent"), r"^\d+ threads?$")
        page.key("Enter", "\r")
        detail = "document.querySelector('.detail').textContent"
        page.wait_for(f"{detail}.includes('server.exe')")
        for word in "Processor", "From", "Event0x":
            self.assertIn(word, page.evaluate(detail))
        height = page.evaluate(f"{canvas}.clientHeight")
        box = page.evaluate(f"(() => {{ {canvas}.scrollIntoView({{block: 'center'}});"
                            f"const box = {canvas}.getBoundingClientRect(); return [box.left, box.top] }})()")
        page.click(box[0] + 30, box[1] + 24 + 20 * 3 + 10)  # the first process, behind two processors and their sum
        page.wait_for(f"{canvas}.clientHeight > {height}")
        self.clean(page)

    def test_dark_mode_changes_colours(self):
        page = self.shown(self.made_run("server"))
        colour = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(colour)
        page.media(prefers_color_scheme="dark")
        self.assertNotEqual(page.evaluate(colour), light)
        self.clean(page)

    def test_the_wait_for_graph_is_dark_where_the_page_is(self):
        page = self.shown(self.made_run("deadlock-2"))
        look = ("[['rect', 'fill'], ['g > rect', 'fill'], ['g > text', 'fill'], ['g > rect', 'stroke']].map(([what, name]) =>"
                "getComputedStyle(document.querySelector('.drawing svg').querySelector(what))[name])")
        card = "getComputedStyle(document.querySelector('.drawing')).backgroundColor"
        light = page.evaluate(look)
        self.assertEqual(light[0], "rgb(255, 255, 255)")
        self.assertEqual(page.evaluate(card), light[0])
        page.media(prefers_color_scheme="dark")
        dark = page.evaluate(look)
        self.assertEqual(page.evaluate(card), dark[0])
        for one, other in zip(light, dark):
            self.assertNotEqual(one, other)
        self.clean(page)

    def test_tables_sort_and_filter(self):
        page = self.shown(self.made_run("server"))
        cells = "[...document.querySelectorAll('#waits-table tbody tr')].map(row => Number(row.cells[1].dataset.v))"
        press = "document.querySelector('#waits-table thead tr').cells[1].querySelector('button').click()"
        page.evaluate(press)
        self.assertEqual(page.evaluate(cells), sorted(page.evaluate(cells), reverse=True))
        page.evaluate(press)
        self.assertEqual(page.evaluate(cells), sorted(page.evaluate(cells)))
        self.assertEqual(page.evaluate("document.querySelector('#waits-table thead tr').cells[1].ariaSort"), "ascending")
        page.evaluate("document.querySelector('[aria-label^=\"Filter: The longest\"]').focus()")
        page.type("an interrupt")
        hidden = page.evaluate("document.querySelectorAll('#waits-table tbody tr[hidden]').length")
        texts = page.evaluate("[...document.querySelectorAll('#waits-table tbody tr:not([hidden])')]"
                              ".map(row => row.textContent)")
        self.assertGreater(hidden, 0)
        self.assertTrue(texts and all("an interrupt" in text for text in texts))

    def test_flame_graphs_zoom(self):
        page = self.shown(self.made_run("server"))
        boxes = "document.querySelectorAll('#flame-waiting g').length"
        before = page.evaluate(boxes)
        page.evaluate("document.querySelectorAll('#flame-waiting g')[3].dispatchEvent("
                      "new KeyboardEvent('keydown', {key: 'Enter'}))")
        self.assertNotEqual(page.evaluate(boxes), before)
        page.evaluate("document.querySelector('#flame-waiting button').click()")
        self.assertEqual(page.evaluate(boxes), before)
        self.clean(page)

    def test_long_labels_keep_both_ends(self):
        """What tells one from another may be at either; titles have all of it."""
        page = self.shown(self.made_run("server"))
        boxes = page.evaluate("[...document.querySelectorAll('.flame g')].filter(box => box.querySelector('text'))"
                              ".map(box => [box.querySelector('title').textContent, box.querySelector('text').textContent])")
        cut = [(title, *label.split("…")) for title, label in boxes if "…" in label]
        self.assertGreater(len(cut), 2)
        for title, front, end in cut:
            name = title.rpartition(": ")[0]
            self.assertTrue(name.startswith(front) and name.endswith(end), (title, front, end))
            self.assertIn(len(front) - len(end), (0, 1))
        # A row of the timeline says at the pointer what it is.
        said = page.evaluate("(() => { const canvas = document.querySelector('canvas'); const box = canvas.getBoundingClientRect();"
                             "const at = x => { canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + x,"
                             "clientY: box.top + 30})); return canvas.title; }; return [at(20), at(400)] })()")
        self.assertEqual(said[1], "")
        self.assertIn(said[0], ("all processors", "processor 0"))
        self.clean(page)

    def test_the_slider_tells_what_the_table_has(self):
        page = self.shown(self.made_etl("disk-bursts"))
        row = page.evaluate("[...document.querySelectorAll('#idle-1-0-table tbody tr')].map(row => row.cells[0].textContent)")
        page.evaluate("(() => { const one = document.querySelector('#idle-1-0 input'); one.value = '4';"
                      "one.dispatchEvent(new Event('input')) })()")
        self.assertTrue(page.evaluate("document.querySelector('#idle-1-0 output').textContent").startswith(row[4]))
        self.clean(page)

    def test_without_script_the_tables_are_there(self):
        path = self.folder / "plain.html"
        run("report", self.made_run("server"), "-o", path)
        page = self.browser.page(path)
        self.addCleanup(page.close)
        page.wait_for("document.readyState === 'complete'")  # what is not there cannot be loaded again
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Page.reload")
        page.wait_for("document.readyState === 'complete'")
        self.assertGreater(page.evaluate("document.querySelectorAll('#services-table tbody tr').length"), 3)
        self.assertEqual(page.evaluate("document.querySelectorAll('canvas').length"), 0)


class Modules(unittest.TestCase):
    """The script's own functions, in node."""

    @unittest.skipUnless(shutil.which("node"), "node is not here")
    def test_modules(self):
        done = subprocess.run(["node", "--test", str(SOURCES / "tests/cli/report/page/report_modules.mjs")], capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
