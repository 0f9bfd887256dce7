"""What `trace critical-path` answers, against a second reader of the events, written here from
Giraldeau and Dagenais (IEEE TPDS 27(8), 2016) and the rules of context switches.

usage: critical_path.py COLDTRACE SOURCES MAKE_SCENARIO_ETL [arguments of unittest]
"""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
import json_schema
from cli.trace.analysis.answers import answer_of, duration, runner
from cli.trace.analysis.scenario_reading import EPOCH, ticks_of
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES, MAKE_SCENARIO_ETL = (Path(a).resolve() for a in sys.argv[1:4])
SCENARIOS = ("producer-consumer", "deadlock-2", "deadlock-5", "boot", "disk-idle", "any-wait",
             "priority-inversion", "lock-convoy", "server", "disk-bursts", "id-reuse", "migration")
LOSSY = ("losses", "wrapped")
WAITING, RUNNABLE = 5, (1, 2, 3, 7)
TIMERS = (8, 9, "NotificationTimer", "SynchronizationTimer")


run = runner(COLDTRACE, "trace")


def iso(ticks):
    moment = EPOCH + timedelta(microseconds=ticks // 10)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ticks % 10**7:07}Z"


class Story:
    """What happened to each thread: (time, what, details), in order; lives are (id, number)."""
    def __init__(self, path):
        lines = strict_ndjson(run("decode", path, "--header-fields").stdout)
        self.events = [line for line in lines if line["type"] == "event"]
        self.first, self.last = (ticks_of(self.events[i]["time"]) for i in (0, -1))
        self.lives, self.stories, self.current, self.has_ready = {}, {}, {}, False
        self.ends = {}
        for line in self.events:
            self.read(line)
        for story in self.stories.values():
            self.untangle(story)

    def life(self, tid):
        return self.lives.setdefault(tid, (tid, 0))

    def tell(self, life, time, what, **details):
        self.stories.setdefault(life, []).append({"time": time, "what": what, **details})

    def ready(self, time, tid, waker, place):
        self.has_ready = True
        self.tell(self.life(tid), time, "ready", waker=self.life(waker) if waker else None,
                  place=place)

    def begin(self, time, tid, creator, place):
        by = self.life(creator) if creator else None
        self.lives[tid] = (tid, self.lives[tid][1] + 1) if tid in self.lives else (tid, 1)
        self.tell(self.lives[tid], time, "start", creator=by, place=place)

    def read(self, line):
        name, fields, cpu = line["name"], line["fields"], line["cpu"]
        time = ticks_of(line["time"])
        place = (line["header"]["buffer"], line["header"]["offset"])
        running = self.current.get(cpu)
        if name in ("Thread/CSwitch", "ContextSwitch"):
            low = {key.lower().replace("_", ""): value for key, value in fields.items()}
            get = lambda *names: next((low[n] for n in names if n in low), None)
            old, new = get("oldthreadid", "oldthread"), get("newthreadid", "newthread")
            if old:
                self.tell(self.life(old), time, "out", cpu=cpu,
                          state=get("oldthreadstate", "oldstate"), place=place)
            if new:
                self.tell(self.life(new), time, "in", cpu=cpu, place=place)
            self.current[cpu] = new
        elif name == "Thread/ReadyThread":
            self.ready(time, fields["TThreadId"], None if fields["Flag"] & 1 else line["tid"], place)
        elif name == "WaitSatisfied" and fields["thread"] != running:
            timer = fields["object_type"] in TIMERS
            self.ready(time, fields["thread"], None if timer else running, place)
        elif name in ("Thread/End", "ThreadEnd", "ThreadStop"):
            self.ends[self.life(fields.get("TThreadId", fields.get("thread")))] = time
        elif name == "Thread/Start":
            self.begin(time, fields["TThreadId"], line["tid"], place)
        elif name == "ThreadCreate":
            self.begin(time, fields["new_thread"], fields["thread"], place)
        elif name == "ThreadStart":
            self.begin(time, fields["thread"], line["tid"], place)

    @staticmethod
    def untangle(story):
        """Within a tick a thread leaves one processor before it enters another."""
        where = None
        for i, step in enumerate(story):
            if step["what"] == "in" and where is not None:
                out = next((j for j in range(i + 1, len(story)) if story[j]["time"] == step["time"]
                            and story[j]["what"] == "out" and story[j]["cpu"] == where), None)
                if out is not None:
                    story.insert(i, story.pop(out))
                    where = None
                    continue
            if step["what"] == "in":
                where = step["cpu"]
            if step["what"] == "out":
                where = None

    def explain(self, life, low, high, waiting=()):
        """From the end back to the begin: (life, kind, from, to)."""
        time, found = high, []
        while time > low:
            story = self.stories.get(life, [])
            past = [i for i, step in enumerate(story) if step["time"] < time]
            since = lambda step: max(low, step["time"])
            if not past:
                born = next((s for s in story if s["what"] == "start"), None)
                if born and born["creator"] and born["creator"] not in (life, *waiting):
                    return found + self.explain(born["creator"], low, time, waiting)
                return found + [(life, "unknown", low, time)]
            at = past[-1]
            # What makes ready who is not waiting says nothing.
            while story[at]["what"] == "ready" and at > 0 and not self.waits_before(story, at):
                at -= 1
            step = story[at]
            if step["what"] == "in":
                found.append((life, "running", since(step), time))
            elif step["what"] == "ready":
                found.append((life, "ready", since(step), time))
            elif step["what"] == "out" and step["state"] in RUNNABLE:
                found.append((life, "preempted", since(step), time))
            elif step["what"] == "out" and step["state"] is None:
                found.append((life, "off", since(step), time))
            elif step["what"] == "out" and step["state"] != WAITING:
                found.append((life, "unknown", since(step), time))
            else:  # it waits, or has just been created
                wake = next((s for s in story[at + 1:] if s["what"] in ("ready", "in")), None)
                waker = wake["waker"] if wake and wake["what"] == "ready" else None
                if waker and waker not in (life, *waiting):
                    found += self.explain(waker, since(step), time, (*waiting, life))
                elif step["what"] == "start":
                    found.append((life, "ready", since(step), time))
                elif wake and wake["what"] == "ready":
                    found.append((life, "interrupt", since(step), time))
                elif wake:
                    found.append((life, "off", since(step), time))
                else:
                    found.append((life, "waiting" if self.has_ready else "off", since(step), time))
            time = since(step)
        return found

    @staticmethod
    def waits_before(story, at):
        before = next((s for s in reversed(story[:at]) if s["what"] != "ready"), None)
        if before is None:
            return True
        no_other = all(s["what"] != "ready" for s in story[story.index(before) + 1:at])
        return no_other and (before["what"] == "start" or
                             before["what"] == "out" and before["state"] == WAITING)


class CriticalPaths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.traces, cls.paths = [], {}
        for name in SCENARIOS + LOSSY:
            path = cls.folder / f"{name}.ctrace"
            assert run("synthesize", name, "--seed", 5, "-o", path).returncode == 0
            etl = path.with_suffix(".etl")
            subprocess.run([MAKE_SCENARIO_ETL, name, "5", "0", "4", etl], check=True)
            cls.traces += [path, etl]
        cls.schema = json_schema.of(
            json.loads((SOURCES / "docs/schema/trace-critical-path.schema.json").read_text()))

    def answer(self, path, tid, *options):
        return answer_of(run("critical-path", path, "--thread", tid, "--format", "json", *options),
                         0, 1)

    def paths_of(self, path):
        """Each thread of which there was one, with its answer; read once for all tests."""
        if path not in self.paths:
            story = Story(path)
            self.paths[path] = [
                (story, life, self.answer(path, life[0])) for life in story.stories
                if sum(1 for other in story.stories if other[0] == life[0]) == 1]
        return iter(self.paths[path])

    def test_follows_its_schema(self):
        for path in self.traces:
            for _, life, answer in self.paths_of(path):
                self.schema.validate(answer)

    def test_hops_fill_the_window_one_behind_the_other(self):
        for path in self.traces:
            for _, life, answer in self.paths_of(path):
                with self.subTest(path=path.name, thread=life[0]):
                    at = answer["from"]
                    for hop in answer["hops"]:
                        self.assertEqual(hop["from"], at)
                        self.assertLess(hop["from"], hop["to"])
                        at = hop["to"]
                    self.assertEqual(at, answer["to"])
                    length = ticks_of(answer["to"]) - ticks_of(answer["from"])
                    self.assertEqual(sum(hop["duration"] for hop in answer["hops"]), length)
                    self.assertEqual(sum(kind["duration"] for kind in answer["kinds"]), length)
                    self.assertEqual(answer["duration"], length)

    def test_hops_are_those_of_another_reader(self):
        compared = {".ctrace": 0, ".etl": 0}
        kinds = set()
        for path in self.traces:
            if path.stem in LOSSY:
                continue
            for story, life, answer in self.paths_of(path):
                with self.subTest(path=path.name, thread=life[0]):
                    tids = {thread["id"]: thread["tid"] for thread in answer["threads"]}
                    got = [(tids[hop["thread"]], hop["kind"], ticks_of(hop["from"]),
                            ticks_of(hop["to"])) for hop in answer["hops"]]
                    expected = [(who[0], *rest) for who, *rest in
                                reversed(story.explain(life, story.first,
                                                       story.ends.get(life, story.last)))]
                    self.assertEqual(got, expected)
                    compared[path.suffix] += len(got)
                    kinds |= {kind for _, kind, *_ in got}
        self.assertGreater(compared[".ctrace"], 1000)
        self.assertGreater(compared[".etl"], 1000)
        self.assertLessEqual({"running", "ready", "interrupt", "waiting", "unknown", "preempted"},
                             kinds)

    def test_each_hop_ends_with_the_event_it_names(self):
        says = {"Thread/CSwitch": ("switch_in", "switch_out"),
                "ContextSwitch": ("switch_in", "switch_out"),
                "Thread/ReadyThread": ("made_ready",), "WaitSatisfied": ("made_ready",),
                "Thread/Start": ("thread_start",), "ThreadCreate": ("thread_start",),
                "ThreadStart": ("thread_start",)}
        for path in self.traces:
            for story, life, answer in self.paths_of(path):
                events = {(e["header"]["buffer"], e["header"]["offset"]): e for e in story.events}
                for hop in answer["hops"]:
                    if hop["event"] is None:
                        self.assertEqual(hop["ended_by"] == "path", hop is answer["hops"][-1])
                        continue
                    event = events[hop["event"]["buffer"], hop["event"]["offset"]]
                    self.assertEqual(event["time"], hop["to"])
                    self.assertIn(hop["ended_by"], says[event["name"]])

    def test_a_window_has_the_part_of_the_path_in_it(self):
        for name in "server.etl", "producer-consumer.ctrace", "lock-convoy.etl":
            path = self.folder / name
            story, life, whole = next(self.paths_of(path))
            middle = whole["hops"][len(whole["hops"]) // 2]
            part = self.answer(path, life[0], "--from", middle["from"])
            self.assertEqual(part["from"], middle["from"])
            key = lambda hop: (hop["kind"], hop["from"], hop["to"], hop["ended_by"])
            self.assertEqual([key(hop) for hop in part["hops"]],
                             [key(hop) for hop in whole["hops"] if hop["from"] >= middle["from"]])
            early = self.answer(path, life[0], "--to", middle["to"])
            self.assertLessEqual(early["to"], middle["to"])
            self.assertEqual(sum(hop["duration"] for hop in early["hops"]), early["duration"])

    def test_a_lock_is_never_waited_for_on_the_path_but_held(self):
        """Who waits for the mutant waits for what its owner does."""
        for suffix in ".ctrace", ".etl":
            _, _, answer = next(self.paths_of(self.folder / ("lock-convoy" + suffix)))
            time = {kind["kind"]: kind["duration"] for kind in answer["kinds"]}
            self.assertNotIn("waiting", time)
            self.assertGreater(time["running"], 0.9 * answer["duration"])

    def test_what_is_lost_is_unknown(self):
        _, _, answer = next(self.paths_of(self.folder / "losses.etl"))
        self.assertGreater({k["kind"]: k["duration"] for k in answer["kinds"]}["unknown"], 0)
        self.assertIn("path-unproved", {f["code"] for f in answer["findings"]})

    def test_text_and_drawing_have_the_same_hops(self):
        for path in self.traces:
            _, life, answer = next(self.paths_of(path))
            with self.subTest(path=path.name):
                text = run("critical-path", path, "--thread", life[0], "--hops", 10**9).stdout.decode()
                rows = [line.split() for line in text.splitlines() if line.startswith("  ") and
                        line.split()[0][0] == "+"]
                self.assertEqual([" ".join(row[1:3]) for row in rows],
                                 [duration(hop["duration"]) for hop in answer["hops"]])
                few = run("critical-path", path, "--thread", life[0], "--hops", 1).stdout.decode()
                if len(rows) > 1:
                    self.assertIn(f"and {len(rows) - 1:,} more", few)
                done = run("critical-path", path, "--thread", life[0], "--format", "svg")
                root = xml.etree.ElementTree.fromstring(done.stdout)
                drawn = [e for e in root.iter("{http://www.w3.org/2000/svg}rect") if len(e)]
                self.assertEqual(len(drawn), len(answer["hops"]))

    def test_threads_that_are_not_there_or_several_are_told(self):
        path = self.folder / "id-reuse.ctrace"
        story = Story(path)
        validator = json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace-critical-path.schema.json").read_text()))
        somebody = next(tid for tid, _ in story.stories)
        outside = iso(story.last + 10**7), iso(story.first - 10**7)
        for options, why, has_interval in (
                (["--thread", 999999], b"there is no thread 999999", True),
                (["--thread", somebody, "--from", outside[0]], b"is between --from and --to", False),
                (["--thread", somebody, "--to", outside[1]], b"is between --from and --to", False)):
            with self.subTest(options=options):
                done = run("critical-path", path, *options)
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertEqual(done.stderr.count(b"no-match"), 1)
                self.assertIn(why, done.stderr)
                done = run("critical-path", path, *options, "--format", "svg")
                self.assertEqual(done.returncode, 1)
                xml.etree.ElementTree.fromstring(done.stdout)
                done = run("critical-path", path, *options, "--format", "json")
                self.assertEqual(done.returncode, 1)
                answer = strict_json(done.stdout)
                validator.validate(answer)
                self.assertEqual([answer[name] for name in ("thread", "threads", "kinds", "hops")],
                                 [None, [], [], []])
                self.assertEqual([answer[name] is not None for name in ("from", "to", "duration")],
                                 [has_interval] * 3)
        twice = next(tid for tid, number in story.stories if number == 2)
        done = run("critical-path", path, "--thread", twice)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"threads had the id", done.stderr)
        start = next(s for s in story.stories[twice, 2] if s["what"] == "start")
        line = next(e for e in story.events if (e["header"]["buffer"], e["header"]["offset"]) ==
                    start["place"])
        alone = run("critical-path", path, "--thread", twice, "--from", line["time"])
        self.assertIn(alone.returncode, (0, 1, 2))

    def test_a_thread_that_never_ran_is_as_old_as_its_start(self):
        """Before that the path is its creator's, and behind it the thread is ready."""
        path = self.folder / "boot.ctrace"
        story = Story(path)
        checked = 0
        for life, steps in story.stories.items():
            start = next((s for s in steps if s["what"] == "start"), None)
            into = next((s for s in steps if s["what"] == "in"), None)
            if not start or not into or into["time"] - start["time"] < 10:
                continue
            answer = self.answer(path, life[0], "--to", iso(into["time"] - 1))
            if ticks_of(answer["to"]) <= start["time"]:
                continue
            last = answer["hops"][-1]
            self.assertEqual(last["kind"], "ready")
            self.assertEqual(ticks_of(last["from"]), start["time"])
            if start["time"] > story.first:
                before = answer["hops"][-2]
                self.assertEqual(before["ended_by"], "thread_start")
                tids = {thread["id"]: thread["tid"] for thread in answer["threads"]}
                self.assertEqual(tids[before["thread"]], start["creator"][0])
            checked += 1
        self.assertGreater(checked, 3)

    def test_a_thread_whose_end_was_lost_is_gone_once_its_id_starts_again(self):
        path = self.folder / "id-reuse.etl"
        story = Story(path)
        twice = next(tid for tid, number in story.stories if number == 2)
        end = next(e for e in story.events
                   if e["name"] == "Thread/End" and e["fields"]["TThreadId"] == twice)
        start = next(s for s in story.stories[twice, 2] if s["what"] == "start")
        data = bytearray(path.read_bytes())
        at = end["header"]["buffer"] + end["header"]["offset"] + 6
        self.assertEqual(data[at:at + 2], b"\x02\x05")
        data[at] = 0xee
        damaged = self.folder / "lost-end.etl"
        damaged.write_bytes(data)
        second = next(s for s in story.stories[twice, 2] if s["what"] == "in")
        last = story.ends[twice, 2]
        answer = self.answer(damaged, twice, "--from", iso(start["time"]), "--to", iso(last))
        self.assertEqual(ticks_of(answer["from"]), start["time"])
        self.assertIn("running", {hop["kind"] for hop in answer["hops"]})
        self.assertLess(second["time"], last)

    def test_a_drawing_has_the_thread_and_says_what_is_left_out(self):
        path = self.folder / "long.ctrace"
        self.assertEqual(run("synthesize", "lock-convoy", "--rounds", 1500, "-o", path).returncode, 0)
        answer = self.answer(path, 1000)
        self.assertGreater(len(answer["hops"]), 4500)
        done = run("critical-path", path, "--thread", 1000, "--format", "svg")
        root = xml.etree.ElementTree.fromstring(done.stdout)
        drawn = [e for e in root.iter("{http://www.w3.org/2000/svg}rect") if len(e)]
        self.assertEqual(len(drawn), 4000)
        self.assertIn(f"Critical path of thread 1000 of convoy.exe ({answer['threads'][0]['pid']}); "
                      f"{len(answer['hops']) - 4000:,} hops are left out",
                      [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")])

    def test_numbers_are_decimal_and_in_their_range(self):
        path = self.folder / "server.ctrace"
        same = run("critical-path", path, "--thread", "01000")
        self.assertEqual(same.stdout, run("critical-path", path, "--thread", "1000").stdout)
        for option, value, says in (("--hops", "-1", b"not a whole number (0 or more)"),
                                    ("--hops", str(2**64), b"too large"),
                                    ("--hops", "1e3", b"'1e3' is not a whole number (0 or more)"),
                                    ("--thread", "-1", b"not a whole number (0 or more)"),
                                    ("--thread", "abc", b"'abc' is not a whole number (0 or more)"),
                                    ("--thread", str(2**32), b"too large"),
                                    ("--thread", "", b"not a whole number (0 or more)")):
            options = ["--thread", "1000"] if option != "--thread" else []
            done = run("critical-path", path, *options, option, value)
            self.assertEqual(done.returncode, 2, (option, value))
            self.assertIn(says, done.stderr)

    def test_a_trace_without_switches_is_told(self):
        path = self.folder / "services.ctrace"
        self.assertEqual(run("synthesize", "system-calls", "-o", path).returncode, 0)
        tid = strict_ndjson(run("decode", path).stdout)[2]["tid"]
        if tid is not None:
            done = run("critical-path", path, "--thread", tid)
            self.assertIn(done.returncode, (0, 1, 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
