"""What `trace io` and `trace idle` say of the requests of a trace, against readers of the events that are written
here: from the layouts of the events and the definitions of the numbers, not from coldtrace.

usage: trace_io.py COLDTRACE SOURCES SHARED MAKE_SCENARIO_ETL MAKE_IO_TRACES [arguments of unittest]
"""
import gzip
import json
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
import json_schema
from cli.trace.analysis import answers
from cli.trace.analysis.answers import answer_of, runner, size
from cli.trace.etl_writer import EtlWriter
from cli.trace.analysis.scenario_reading import ticks_of
from sample_volumes import sample_volume
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED, MAKE_SCENARIO_ETL, MAKE_IO_TRACES = (
    Path(a).resolve() for a in sys.argv[1:6])
SEEDS = 1, 2, 77
SCENARIOS = "disk-idle", "disk-bursts", "server"
PRIORITIES = [None, "VeryLow", "Low", "Normal", "High", "Critical"]


run = runner(COLDTRACE)


def sample(*place):
    path = SHARED.joinpath("samples", *place)
    if not path.exists():
        raise unittest.SkipTest("the samples are not here")
    return path


def united(intervals):
    """How much time the union of intervals has."""
    total, reached = 0, None
    for begin, end in sorted(intervals):
        if reached is None or begin > reached:
            total, reached = total + end - begin, end
        elif end > reached:
            total, reached = total + end - reached, end
    return total


def nth(values, percent):
    """The least value that this share of all is not above."""
    values = sorted(values)
    return values[max(0, -(-len(values) * percent // 100) - 1)]


class Request:
    def __init__(self, **members):
        self.__dict__.update(members)


def counted(count, one, several):
    return f"{count:,} {one if count == 1 else several}"


def duration(units):
    if units is None:
        return "-"
    return answers.duration(units)


def served(requests):
    """Service time: since the disk was done with the request before, at most since the begin."""
    before = {}
    for one in requests:
        since = max(one.begin, before.get(one.disk, one.begin))
        one.service = one.end - since
        one.queue = one.end - one.begin - one.service
        before[one.disk] = one.end
    return requests


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def answer(self, *arguments, status=0):
        answer = answer_of(run("trace", "io", *arguments, "--format", "json"), status)
        some = {**answer, "disk": {**answer["disk"], "open": answer["disk"]["open"][:100]}}
        json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace-io.schema.json").read_text())).validate(some)
        return answer

    def rows(self, *arguments, status=0):
        done = run("trace", "io", *arguments, "--format", "csv")
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return strict_csv(done.stdout)

    def assert_sums(self, told, requests):
        of = lambda action: [one for one in requests if one.action == action]
        self.assertEqual([told[name] for name in ("reads", "writes", "flushes", "others")],
                         [len(of(action)) for action in ("read", "write", "flush", "other")])
        self.assertEqual(told["bytes_read"], sum(one.bytes for one in of("read")))
        self.assertEqual(told["bytes_written"], sum(one.bytes for one in of("write")))
        responses = [one.end - one.begin for one in requests]
        self.assertEqual((told["timed"], told["served"]), (len(responses), len(responses)))
        self.assertEqual(told["response"], sum(responses))
        self.assertEqual(told["longest"], max(responses))
        self.assertEqual(told["service"], sum(one.service for one in requests))
        self.assertEqual(told["queue"], sum(one.queue for one in requests))
        self.assertEqual(told["service"] + told["queue"], told["response"])
        for percent in 50, 90, 99:
            true = nth(responses, percent)
            self.assertGreaterEqual(told[f"p{percent}"], true)
            self.assertLessEqual(told[f"p{percent}"], true + true / 32)


class RealTrace(Case):
    """1,231 requests to one disk, of Windows 8; its timestamps are units of 100 ns."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = sample("etl", "pv_net.4.5.2.x64.etl")
        lines = strict_ndjson(run("trace", "decode", cls.path, "--event",
                                  "DiskIo,FileIo,Thread,Process").stdout)
        cls.events = [line for line in lines if line["type"] == "event"]
        cls.requests, cls.begins = cls.read(cls.events)

    @classmethod
    def read(cls, events):
        process_of, image, begins = {}, {}, {}
        for event in events:  # who was there all along, and who came
            fields = event["fields"]
            if event["name"] in ("Thread/DCStart", "Thread/Start"):
                process_of[fields["TThreadId"]] = fields["ProcessId"]
            if event["name"] in ("Process/DCStart", "Process/Start"):
                image[fields["ProcessId"]] = fields["ImageFileName"]
        names = cls.names(events)
        requests, pairs = [], []
        for event in events:
            fields, name = event["fields"], event["name"]
            if name.startswith("DiskIo/") and name.endswith("Init"):
                begins[fields["Irp"]] = event
            elif name in ("DiskIo/Read", "DiskIo/Write", "DiskIo/FlushBuffers"):
                end = event["timestamp"]
                pid = process_of[fields["IssuingThreadId"]]
                requests.append(Request(
                    end=end, begin=end - fields["HighResResponseTime"],
                    action={"Read": "read", "Write": "write",
                            "FlushBuffers": "flush"}[name.split("/")[1]],
                    disk=fields["DiskNumber"], bytes=fields.get("TransferSize"),
                    offset=fields.get("ByteOffset"), tid=fields["IssuingThreadId"],
                    pid=pid, process=image[pid],
                    priority=PRIORITIES[fields["IrpFlags"] >> 17 & 7],
                    file=names(fields.get("FileObject"), end)))
                pairs.append((begins.pop(fields["Irp"]), requests[-1]))
        assert not begins
        return served(requests), pairs

    @staticmethod
    def names(events):
        """A name counts from its FileCreate to its FileDelete; one of the rundown at the end counts
        since the last of these."""
        stories = defaultdict(list)
        for event in events:
            if event["name"].startswith("FileIo/"):
                stories[event["fields"]["FileObject"]].append(
                    (event["timestamp"], event["name"].split("/")[1], event["fields"]["FileName"]))

        def find(key, time):
            known = None
            for when, kind, name in stories.get(key, ()):
                if when <= time:
                    known = name if kind == "FileCreate" else None if kind == "FileDelete" else known
                elif kind in ("FileRundown", "FileDelete"):
                    return known or name
                else:
                    break
            return known
        return find

    def test_begins_are_where_the_durations_have_them(self):
        """The format says it twice: the Init event, and the end less the duration."""
        self.assertEqual(len(self.begins), 1231)
        apart = [abs(begin["timestamp"] - one.begin) for begin, one in self.begins]
        self.assertLess(max(apart), 150)
        self.assertEqual({begin["fields"]["IssuingThreadId"] == one.tid
                          for begin, one in self.begins}, {True})

    def test_sums_are_those_of_the_events(self):
        disk = self.answer(self.path)["disk"]
        self.assertEqual(disk["counts"], {
            "requests": 1231, "open": 0, "untimed": 0, "lone_ends": 0, "lost_ends": 0,
            "contradictory": 0, "inferred_threads": 0, "reused_threads": 0})
        self.assertEqual([one["disk"] for one in disk["disks"]], [0])
        self.assert_sums(disk["disks"][0], self.requests)
        self.assertEqual(disk["disks"][0]["busy"],
                         united((one.begin, one.end) for one in self.requests))
        for told, key in ((disk["files"], "file"), (disk["processes"], "pid"),
                          (disk["threads"], "tid"), (disk["priorities"], "priority")):
            groups = defaultdict(list)
            for one in self.requests:
                groups[getattr(one, key)].append(one)
            self.assertEqual({row[key] for row in told}, set(groups))
            self.assertEqual(len(told), len(groups))
            for row in told:
                with self.subTest(by=key, of=row[key]):
                    self.assert_sums(row, groups[row[key]])
        self.assertGreater(len(disk["files"]), 30)
        self.assertEqual({row["pid"]: row["process"] for row in disk["processes"]},
                         {one.pid: one.process for one in self.requests})
        self.assertEqual(sum(step["count"] for step in disk["responses"]), 1231)
        self.assertEqual(sum(step["count"] for step in disk["sizes"]), 1229)

    def test_rows_are_the_requests(self):
        rows = self.rows(self.path)
        self.assertEqual(len(rows), len(self.requests))
        text = lambda value: "" if value is None else str(value)
        for row, one in zip(rows, self.requests):
            self.assertEqual(
                [row[name] for name in ("response", "service", "queue", "disk", "action", "offset",
                                        "bytes", "priority", "file", "process", "pid", "tid")],
                [text(value) for value in (
                    one.end - one.begin, one.service, one.queue, one.disk, one.action, one.offset,
                    one.bytes, one.priority, one.file, one.process, one.pid, one.tid)])

    def test_a_part_of_the_trace_does_not_know_what_ended_before(self):
        """Of a request that began before the first event nobody knows how long the disk served it."""
        middle = self.requests[600]
        later = [one for one in self.requests if one.end >= middle.end]
        event = next(event for event in self.events if event["timestamp"] == middle.end
                     and event["name"].startswith("DiskIo"))
        disk = self.answer(self.path, "--from", event["time"])["disk"]
        self.assertEqual(disk["disks"][0]["timed"], len(later))
        self.assertEqual(disk["disks"][0]["served"], len(later) - 1)
        self.assertLess(disk["disks"][0]["busy"],
                        united((one.begin, one.end) for one in later))


    def test_a_part_of_the_trace_has_the_names_of_the_whole(self):
        """The processes were listed before it began."""
        times = "--from", "2020-07-29T00:07:03Z", "--to", "2020-07-29T00:07:06Z"
        place = lambda row: (row["buffer"], row["event_offset"])
        who = lambda row: (row["process"], row["pid"], row["tid"])
        whole = {place(row): who(row) for row in self.rows(self.path)}
        rows = self.rows(self.path, *times)
        self.assertEqual([who(row) for row in rows], [whole[place(row)] for row in rows])
        named = {(int(row["pid"]), row["process"]) for row in rows}
        self.assertGreater(len(named), 3)
        disk = self.answer(self.path, *times)["disk"]
        self.assertEqual({(row["pid"], row["process"]) for row in disk["processes"]}, named)
        self.assertEqual({(row["tid"], row["pid"]) for row in disk["threads"]},
                         {(int(row["tid"]), int(row["pid"])) for row in rows})
        text = run("trace", "io", self.path, *times).stdout.decode()
        for pid, name in named:
            self.assertIn(f"  {name} ({pid})\n", text)

    def test_text_has_units_that_fit(self):
        answer = self.answer(self.path)
        lines = run("trace", "io", self.path, "--top", 10 ** 6).stdout.decode().splitlines()
        units = set()
        for part, time in ("disk", "response"), ("file_operations", "duration"):
            for row in answer[part]["processes"]:
                wanted = [size(row["bytes_read"]), size(row["bytes_written"]), duration(row[time])]
                units |= {text.split()[1] for text in wanted}
                found = [line for line in lines if line.endswith(f"  {row['process']} ({row['pid']})")
                         and re.search(r"\s{2,}".join(map(re.escape, wanted)), line)]
                self.assertTrue(found, (part, row, wanted))
        self.assertGreaterEqual(len(units), 4)

    def test_every_question_to_a_part_of_the_trace_names_processes_as_the_whole_does(self):
        times = "--from", "2020-07-29T00:07:03Z", "--to", "2020-07-29T00:07:06Z"

        def named(value):
            """(pid, name) of all objects of an answer."""
            if isinstance(value, dict):
                name = {"process", "image_name"} & set(value)
                if value.get("pid") is not None and name:
                    yield value["pid"], value[name.pop()]
                value = list(value.values())
            if isinstance(value, list):
                for one in value:
                    yield from named(one)

        # Not "schedule", which has nothing of threads where the trace has no switches.
        for command in "io", "idle", "cpu", "tree":
            with self.subTest(command=command):
                told = [set(named(strict_json(run("trace", command, self.path, *options,
                                                  "--format", "json").stdout)))
                        for options in ((), times)]
                self.assertLessEqual(told[1], told[0])
                self.assertGreater(len(told[1]), 1)
        done = run("trace", "cpu", self.path, *times, "--process", "MsMp*", "--format", "collapsed")
        self.assertIn(b"MsMpEng.exe", done.stdout)
        self.assertEqual({line.split(b" (")[0] for line in done.stdout.splitlines()},
                         {b"MsMpEng.exe"})
        done = subprocess.run([COLDTRACE, "trace", "cpu", self.path, "--process", "MsMp*"], capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"--process is for --format collapsed", done.stderr)

    def test_network_bytes_are_those_of_the_events(self):
        """The destination of TCP is the remote end; that of UDP is the packet's."""
        lines = strict_ndjson(run("trace", "decode", self.path, "--event", "TcpIp,UdpIp").stdout)
        of_processes, of_peers = defaultdict(lambda: [0] * 6), defaultdict(lambda: [0] * 6)
        for line in lines:
            if line["type"] != "event":
                continue
            protocol, kind = line["name"].split("/")
            fields = line["fields"]
            if kind[:4] not in ("Send", "Recv", "Retr"):
                continue
            protocol = protocol[:3].lower()
            remote = fields["saddr" if protocol == "udp" and kind[:4] == "Recv" else "daddr"]
            at = ("Send", "Recv", "Retr").index(kind[:4]) * 2
            for sums in of_processes[fields["PID"]], of_peers[fields["PID"], protocol, remote]:
                sums[at] += 1
                sums[at + 1] += fields["size"]
        told = self.answer(self.path)["network"]
        sums = lambda row: [row[name] for name in ("sends", "bytes_sent", "receives",
                                                   "bytes_received", "repeats", "bytes_repeated")]
        self.assertEqual({row["pid"]: sums(row) for row in told["processes"]}, dict(of_processes))
        self.assertEqual({(row["pid"], row["protocol"], row["address"]): sums(row)
                          for row in told["peers"]}, dict(of_peers))
        # Both ends talk to the same addresses, and the machine's own port is not a peer.
        self.assertGreater(len(of_peers), 5)
        self.assertTrue(any(one[0] and one[2] for key, one in of_peers.items() if key[1] == "tcp"))


class Scenarios(Case):
    """What is true of simulated runs, from both formats."""
    def runs(self):
        for name in SCENARIOS:
            for seed in SEEDS:
                answers = strict_json(run("trace", "synthesize", name, "--seed", seed,
                                          "--format", "json").stdout)
                etl = self.folder / f"{name}-{seed}.etl"
                subprocess.run([MAKE_SCENARIO_ETL, name, str(seed), "0", "4", etl], check=True)
                paths = [etl]
                if name != "server":  # wmk has no requests to disks
                    paths.append(etl.with_suffix(".ctrace"))
                    run("trace", "synthesize", name, "--seed", seed, "-o", paths[-1])
                for path in paths:
                    with self.subTest(trace=path.name):
                        yield answers, path

    @staticmethod
    def requests(answers):
        threads, processes = answers["threads"], answers["processes"]
        ended = [Request(begin=one["start"], end=one["end"], disk=0, bytes=one["bytes"],
                         action="write" if one["write"] else "read", offset=one["offset"],
                         tid=threads[one["thread"]]["tid"],
                         pid=processes[threads[one["thread"]]["process"]]["pid"])
                 for one in answers["disk_requests"] if one["end"] is not None]
        return served(sorted(ended, key=lambda one: one.end))

    def test_requests_are_the_true_ones(self):
        count = 0
        for answers, path in self.runs():
            requests = self.requests(answers)
            first = ticks_of(self.answer(path)["first_event"]) - ticks_of(answers["start"])
            rows = self.rows(path)
            count += len(rows)
            told = [(round(float(row["end"]) * 10**7) + first, int(row["response"]),
                     int(row["service"]), int(row["queue"]), row["action"], int(row["offset"]),
                     int(row["bytes"]), int(row["pid"]), int(row["tid"])) for row in rows]
            self.assertEqual(told, [(one.end, one.end - one.begin, one.service, one.queue,
                                     one.action, one.offset, one.bytes, one.pid, one.tid)
                                    for one in requests])
        self.assertGreater(count, 500)

    def test_sums_are_true(self):
        for answers, path in self.runs():
            requests = self.requests(answers)
            disk = self.answer(path)["disk"]
            open_since = [one["start"] for one in answers["disk_requests"] if one["end"] is None]
            self.assertEqual(disk["counts"]["open"], len(open_since))
            self.assertEqual(len(disk["disks"]), 1)
            self.assert_sums(disk["disks"][0], requests)
            intervals = [(one.begin, one.end) for one in requests]
            self.assertEqual(disk["disks"][0]["busy"], united(intervals))
            for row in disk["threads"]:
                self.assert_sums(row, [one for one in requests if one.tid == row["tid"]])


class Text(Case):
    """What the text says, row by row, against the JSON."""
    ACTIONS = {"flushes": "flushes", "others": "others", "failed": "failed", "timed": "timed", "served": "served"}

    def rows_of(self, text, title):
        """The rows of a table by the name in their last column, each by its headings."""
        lines = text.split("\n")
        at = next(i for i, line in enumerate(lines) if line.endswith("  " + title))
        headings = [one.replace("~", " ") for one in
                    lines[at][:-len(title)].replace("bytes read", "bytes~read").split()]
        table = {}
        for line in lines[at + 1:]:
            if not line or not line.startswith(" "):
                break
            line = re.sub(r"(\d) (bytes?|[KMG]iB|[um]?s)(?= )", r"\1~\2", line)
            cells = [cell.replace("~", " ") for cell in line.split(None, len(headings))]
            table[cells[-1]] = dict(zip(headings, cells))
        return table

    def octaves(self, steps, unit):
        """Steps are the greatest values of each: what lies in one octave of them is one figure."""
        sums = defaultdict(int)
        for step in steps:
            sums[0 if step["up_to"] == 0 else 1 << (step["up_to"] - 1).bit_length()] += step["count"]
        return "up to " + ", ".join(f"{unit(most)}: {count:,}" for most, count in sorted(sums.items()))

    def untimed(self):
        """A request whose begin is missing, and that the kernel says took longer than any clock runs."""
        log = EtlWriter(1)
        for time, took in (100, 50), (300, 2**64 - 1):
            log.system(0, 0x010A, 3, time, struct.pack("<IIIIQQQQI", 0, 0, 512, 0, 4096, 0, 0xF00, took, 40) + bytes(4))
        path = self.folder / "untimed.etl"
        path.write_bytes(log.build())
        return path

    def test_ends_of_operations_alone_are_none(self):
        """FileIo_OpEnd, which the flag FILE_IO logs; what begins is logged by FILE_IO_INIT."""
        log = EtlWriter(1)
        log.system(0, 0x044C, 2, 100, struct.pack("<QQI", 0xF00, 0, 0))
        path = self.folder / "ends.etl"
        path.write_bytes(log.build())
        self.assertIn(b"no requests to disks, file systems or the network (DISK_IO, FILE_IO_INIT, FILE_IO and "
                      b"NETWORK_TCPIP of the kernel's flags)\n", run("trace", "io", path).stderr)

    def test_text_has_the_figures_of_json(self):
        scenario = self.folder / "text.etl"
        subprocess.run([MAKE_SCENARIO_ETL, "disk-bursts", "1", "0", "4", scenario], check=True)
        subprocess.run([MAKE_IO_TRACES, self.folder], check=True)
        real = SHARED / "samples" / "etl" / "pv_net.4.5.2.x64.etl"
        told = defaultdict(int)
        for path, *options in [(scenario,), *([path] for path in sorted(self.folder.glob("*.etl"))),
                               [self.untimed()],
                               *([[real]] if real.exists() else [])]:
            done = run("trace", "io", path, "--top", "1000000", *options)
            disk = strict_json(run("trace", "io", path, "--format", "json", *options).stdout)["disk"]
            with self.subTest(path=path.name):
                text, counts = done.stdout.decode(), disk["counts"]
                if not any(counts[name] for name in ("requests", "lone_ends", "lost_ends", "contradictory")):
                    continue
                all_of = {name: sum(row[name] for row in disk["priorities"]) for name in ("flushes", "others", "failed")}
                self.assertIn(f"\nOf these      {counted(all_of['flushes'], 'flush', 'flushes')}, "
                              f"{counted(all_of['others'], 'other', 'others')}; "
                              f"{all_of['failed']} failed, {counts['untimed']} untimed\n", text)
                self.assertIn(f"\nPairs         {counted(counts['lone_ends'], 'lone end', 'lone ends')}, "
                              f"{counted(counts['lost_ends'], 'lost end', 'lost ends')}, "
                              f"{counts['contradictory']} contradictory; {counts['inferred_threads']} attributed to "
                              f"the thread on the processor, {counts['reused_threads']} with a reused thread id\n", text)
                if disk["sizes"]:
                    self.assertIn(f"\nBytes         {self.octaves(disk['sizes'], size)}\n", text)
                for name, count in {**all_of, **counts}.items():
                    told[name] += count
                if not disk["threads"]:
                    continue
                table = self.rows_of(text, "thread")
                self.assertGreaterEqual(len(table), len({row["tid"] for row in disk["threads"]}))
                for label, row in table.items():
                    ids = [one for one in disk["threads"] if label.split(" of ")[0] == str(one["tid"] or "-")]
                    figures = [(f"{one['reads']:,}", f"{one['writes']:,}", duration(one["response"]),
                                duration(one["p90"]), duration(one["longest"]),
                                *(f"{one[name]:,}" for name in self.ACTIONS if name in row)) for one in ids]
                    self.assertIn((row["reads"], row["writes"], row["response"], row["p90"], row["longest"],
                                   *(row[name] for name in self.ACTIONS if name in row)), figures, label)
                for name in self.ACTIONS:
                    left_out = all(name not in row for row in table.values())
                    if left_out and name in all_of:
                        self.assertEqual(all_of[name], 0, name)
                    elif left_out:
                        self.assertEqual(sum(one[name] for one in disk["threads"]),
                                         sum(one[kind] for one in disk["threads"]
                                             for kind in ("reads", "writes", "flushes", "others")), name)
        for name in "untimed", "lost_ends", "contradictory", "inferred_threads":
            self.assertGreater(told[name], 0, name)

    def test_text_has_the_operations_of_files_and_the_network(self):
        subprocess.run([MAKE_IO_TRACES, self.folder], check=True)
        files, network = self.folder / "files-3.etl", self.folder / "network.ctrace"
        for path, part, title in (files, "file_operations", "File operations"), (network, "network", "Network requests"):
            counts = strict_json(run("trace", "io", path, "--format", "json").stdout)[part]["counts"]
            self.assertGreater(counts["lone_ends"], 0)
            self.assertIn(f"\n{title}: {counts['open']} still open, {counted(counts['lost_ends'], 'lost end', 'lost ends')}, "
                          f"{counted(counts['lone_ends'], 'lone end', 'lone ends')}\n", run("trace", "io", path).stdout.decode())
        answer = strict_json(run("trace", "io", files, "--format", "json").stdout)
        table = self.rows_of(run("trace", "io", files, "--top", "1000000").stdout.decode(), "file operation")
        self.assertEqual(len(table), len(answer["file_operations"]["actions"]))
        for one in answer["file_operations"]["actions"]:
            row = table[one["action"]]
            self.assertEqual([row[name] for name in ("operations", "ended", "failed", "bytes read", "timed")],
                             [str(one["operations"]), str(one["ended"]), str(one["failed"]), size(one["bytes_read"]), str(one["timed"])])
            self.assertEqual([row[name] for name in ("time", "p50", "p90", "p99", "longest")],
                             [duration(one[name]) for name in ("duration", "p50", "p90", "p99", "longest")])

    def test_text_of_idle_times_says_who_ended_them(self):
        scenario = self.folder / "idle.etl"
        subprocess.run([MAKE_SCENARIO_ETL, "disk-idle", "1", "0", "4", scenario], check=True)
        answer = strict_json(run("trace", "idle", scenario, "--format", "json").stdout)
        text = run("trace", "idle", scenario, "--top", "1000").stdout.decode()
        parts = re.split(r"\n\n", text)[1:]
        self.assertEqual(len(parts), len(answer["devices"]))
        ended = 0
        for part, device in zip(parts, answer["devices"]):
            got = re.findall(r"(?m)^  ended (\d+)x after (\S+ \S+) in all by (?:thread (\d+) of )?.* \((\S+)\)$", part)
            self.assertEqual(got, [(str(one["count"]), duration(one["duration"]),
                                    "" if one["tid"] is None else str(one["tid"]),
                                    "-" if one["pid"] is None else str(one["pid"])) for one in device["ended_by"]])
            ended += len(got)
            for name in "idle_times", "busy_times":
                line, = re.findall(rf"(?m)^  {name.replace('_', ' ')}: (.*)$", part)
                self.assertEqual(sum(int(one) for one in re.findall(r": (\d+)", line)),
                                 sum(step["count"] for step in device[name]))
        self.assertGreater(ended, 3)


class OddTraces(Case):
    """What make_io_traces.cpp wrote."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([MAKE_IO_TRACES, cls.folder], check=True)

    def told(self, name, status, codes):
        answer = self.answer(self.folder / name, status=status)
        self.assertEqual([one["code"] for one in answer["findings"]], codes)
        return answer["disk"]

    def test_the_begin_says_who_issued_where_the_end_does_not(self):
        disk = self.told("old.etl", 0, [])
        self.assertEqual([disk["counts"][name] for name in ("requests", "open", "inferred_threads")],
                         [2, 1, 1])
        self.assertEqual([(row["tid"], row["response"]) for row in disk["threads"]],
                         [(40, 200), (None, 10)])
        self.assertEqual([one["tid"] for one in disk["open"]], [40])

    def test_requests_whose_end_is_missing_are_counted(self):
        disk = self.told("unmatched.etl", 1, ["request-unmatched"])
        counts = disk["counts"]
        self.assertEqual([counts[name] for name in ("requests", "open", "lost_ends",
                                                    "contradictory")], [2, 1, 1, 1])
        self.assertEqual(disk["disks"][0]["response"], 300)

    def test_there_is_a_limit(self):
        disk = self.told("many.etl", 1, ["io-limit"])
        self.assertEqual(disk["counts"]["open"], 65536)

    def test_file_operations_end_with_their_irp(self):
        """Numbers worked out by hand from write_file_requests()."""
        for version in 2, 3:
            path = self.folder / f"files-{version}.etl"
            answer = self.answer(path, status=1)
            self.assertEqual([one["code"] for one in answer["findings"]],
                             ["request-unmatched", "request-unknown"])
            told = answer["file_operations"]
            self.assertEqual(told["counts"], {"open": 1, "lost_ends": 1, "lone_ends": 1})
            rows = {row["action"]: [row[name] for name in (
                "operations", "ended", "failed", "bytes_read", "bytes_written", "duration", "longest")]
                for row in told["actions"]}
            self.assertEqual(rows, {"create": [1, 1, 0, 0, 0, 50, 50],
                                    "read": [2, 2, 1, 300, 0, 70, 60],
                                    "write": [1, 1, 0, 0, 100, 60, 60],
                                    "delete": [1, 1, 0, 0, 0, 50, 50],
                                    "cleanup": [1, 1, 0, 0, 0, 10, 10],
                                    "close": [2, 1, 0, 0, 0, 10, 10],
                                    "flush": [1, 0, 0, 0, 0, 0, 0]})
            # Of 0x2000 no event has a name, and 0x1000 is closed twice.
            self.assertEqual({row["file"]: row["operations"] for row in told["files"]},
                             {"\\a.txt": 7, None: 2})

    def test_the_address_of_a_file_object_is_no_name(self):
        """Who reads how much from which file, by write_reused_objects()."""
        path = self.folder / "reused.etl"
        read = lambda *options: {
            row["file"]: [row["operations"], row["bytes_read"]]
            for row in self.answer(path, *options)["file_operations"]["files"]}
        self.assertEqual(read(), {"\\secret.txt": [1, 0], "\\a.txt": [2, 4], "\\b.txt": [3, 16],
                                  None: [6, 1 + 2 + 8 + 32]})
        # Of what was open when a part of the trace begins the name is known.
        lines = strict_ndjson(run("trace", "decode", path, "--event", "FileIo").stdout)
        since = next(line["time"] for line in lines
                     if line.get("name") == "FileIo/Read" and line["fields"]["IoSize"] == 16)
        self.assertEqual(read("--from", since), {"\\b.txt": [2, 16], None: [1, 32]})

    def test_network_requests_of_drivers_have_the_bytes_of_their_ends(self):
        """A connect is not a transfer; a receive that has not ended has no bytes yet. What ended that
        nobody began may have been either."""
        answer = self.answer(self.folder / "network.ctrace", status=1)
        self.assertEqual([one["code"] for one in answer["findings"]],
                         ["request-unmatched", "request-unknown"])
        told = answer["network"]
        self.assertEqual(told["counts"], {"open": 1, "lost_ends": 1, "lone_ends": 1})
        self.assertEqual(
            [[row[name] for name in ("pid", "protocol", "address", "sends", "bytes_sent",
                                     "receives", "bytes_received")] for row in told["peers"]],
            [[8, "tcp", "10.0.0.7:80", 1, 500, 1, 70]])

    def test_file_operations_of_drivers_are_those_of_their_events(self):
        path = self.folder / "idle.ctrace"
        run("trace", "synthesize", "disk-idle", "-o", path)
        lines = strict_ndjson(run("trace", "decode", path).stdout)
        open_, sums = {}, defaultdict(lambda: [0, 0, 0])
        for line in lines:
            fields = line.get("fields")
            if line.get("name") == "FileSystemRequest":
                open_[fields["irp"]] = (ticks_of(line["time"]), fields)
            elif line.get("name") == "FileSystemCompletion":
                begin, request = open_.pop(fields["irp"])
                for key in ("read" if request["major"] == 3 else "write", request["process"]):
                    sums[key][0] += 1
                    sums[key][1] += ticks_of(line["time"]) - begin
                    sums[key][2] += fields["information"]
        told = self.answer(path)["file_operations"]
        rows = {row.get("action", row.get("pid")): row
                for row in told["actions"] + told["processes"]}
        self.assertEqual({key: [row["timed"], row["duration"], row["bytes_read"] + row["bytes_written"]]
                          for key, row in rows.items()}, dict(sums))
        self.assertEqual(told["counts"]["open"], len(open_))

    def test_ends_of_requests_that_began_before_are_counted(self):
        path = self.folder / "bursts.ctrace"
        run("trace", "synthesize", "disk-bursts", "-o", path)
        lines = strict_ndjson(run("trace", "decode", path).stdout)
        ended = [line for line in lines if line.get("name") == "DiskCompletion"]
        begun = {line["fields"]["irp"]: line["time"] for line in lines
                 if line.get("name") == "DiskRequest"}
        since = next(line["time"] for line in ended
                     if sum(begun[one["fields"]["irp"]] < line["time"] <= one["time"]
                            for one in ended) > 1)
        later = [one for one in ended if one["time"] >= since]
        lone = [one for one in later if begun[one["fields"]["irp"]] < since]
        answer = self.answer(path, "--from", since)
        self.assertEqual([one["code"] for one in answer["findings"]], ["request-unknown"])
        self.assertEqual(answer["disk"]["counts"]["lone_ends"], len(lone))
        self.assertEqual(answer["disk"]["counts"]["requests"], len(later) - len(lone))

    def test_service_is_not_made_up_behind_an_end_of_nothing_that_is_known(self):
        """It does not say of which disk: a part of a trace has no other service than the whole."""
        path = self.folder / "parts.ctrace"
        run("trace", "synthesize", "disk-bursts", "-o", path)
        lines = strict_ndjson(run("trace", "decode", path).stdout)
        place = lambda row: (row["buffer"], row["event_offset"])
        whole = {place(row): row for row in self.rows(path)}
        unknown = known = 0
        for line in [one for one in lines if one.get("name") == "DiskCompletion"][::7]:
            for row in self.rows(path, "--from", line["time"]):
                if row["service"]:
                    known += 1
                    self.assertEqual([row["service"], row["queue"]],
                                     [whole[place(row)]["service"], whole[place(row)]["queue"]])
                else:
                    unknown += 1
        self.assertGreater(unknown, 3)
        self.assertGreater(known, 100)

    def test_a_disk_that_never_answers_is_told(self):
        path = self.folder / "hung.ctrace"
        run("trace", "synthesize", "disk-bursts", "-o", path)
        lines = strict_ndjson(run("trace", "decode", path).stdout)
        first_end = next(line["time"] for line in lines if line.get("name") == "DiskCompletion")
        before = [line for line in lines if line.get("name") == "DiskRequest"
                  and line["time"] < first_end]
        last = before[-1]["time"]
        disk = self.answer(path, "--to", last)["disk"]
        self.assertEqual([(one["disk"], one["reads"], one["busy"]) for one in disk["disks"]],
                         [(0, 0, 0)])
        self.assertEqual(len(disk["open"]), len(before))
        self.assertGreater(len(before), 3)
        text = run("trace", "io", path, "--to", last, "--top", len(before) - 1).stdout.decode()
        rows = [row.split() for row in text.split("open since")[1].splitlines()[1:]]
        for row, line in zip(rows, before[:-1]):
            fields = line["fields"]
            self.assertEqual(row[1:5], [line["resolved"]["major"].lower(),
                                        *(str(fields[name]) for name in ("disk", "offset", "length"))])
        self.assertEqual(rows[len(before) - 1][:4], ["1", "more", "open", "request"])
        self.assertIn(f"{len(before)} still open\n", text)

    def test_disks_beyond_the_most_are_told(self):
        answer = self.answer(self.folder / "disks.etl", status=1)
        rows = {row["disk"]: row["reads"] for row in answer["disk"]["disks"]}
        self.assertEqual(rows, {**{number: 2 for number in range(256)}, None: 2 * 44})
        self.assertEqual([(one["code"], one["text"]) for one in answer["findings"]], [
            ("io-limit", "more than can be kept; left out: 88 requests to other disks")])
        done = run("trace", "idle", self.folder / "disks.etl", "--format", "json")
        self.assertEqual([one["code"] for one in strict_json(done.stdout)["findings"]], ["io-limit"])

    def test_a_trace_without_requests_is_no_match(self):
        path = self.folder / "boot.ctrace"
        run("trace", "synthesize", "boot", "-o", path)
        answer = self.answer(path, status=1)
        self.assertEqual([one["code"] for one in answer["findings"]], ["no-match"])

    def test_times_without_events_are_not_a_trace_without_requests(self):
        path = self.folder / "times.ctrace"
        run("trace", "synthesize", "disk-bursts", "-o", path)
        for times in (["--from", "2030-01-01T00:00:00Z"],
                      ["--from", "2022-06-18T04:26:41Z", "--to", "2022-06-18T04:26:40Z"]):
            for command in "io", "idle":
                done = run("trace", command, path, *times, "--format", "json")
                self.assertEqual(done.returncode, 1)
                self.assertEqual([(one["code"], one["text"])
                                  for one in strict_json(done.stdout)["findings"]],
                                 [("no-match",
                                   "no event of the trace is between --from and --to")])


def snapshot_lines(volume_offset, cluster, files, table="mbr", complete=True):
    yield {"type": "header", "schema": "coldtrace.ntfs-snapshot/1",
           "disk": {"table": table}, "volume": {"cluster_size": cluster}}
    for path, state, extents in files:
        yield {"type": "file", "path": path, "state": state, "other_streams": [],
               "streams": [{"name": None, "extents": [
                   {"vcn": 0, "lcn": at, "clusters": count,
                    "offset": None if at is None else volume_offset + at * cluster}
                   for at, count in extents]}]}
    if complete:
        yield {"type": "summary", "complete": True}


class Snapshot(Case):
    """Places of a disk get the names of files."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traces = []
        for name, form in (("disk-bursts", "ctrace"), ("disk-bursts", "etl")):
            path = cls.folder / f"{name}.{form}"
            if form == "etl":
                subprocess.run([MAKE_SCENARIO_ETL, name, "5", "0", "4", path], check=True)
            else:
                run("trace", "synthesize", name, "--seed", 5, "-o", path)
            cls.traces.append(path)

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def random_files(self, places):
        """Names in use and deleted ones, around the requests, that claim the same places."""
        chance = random.Random(18)
        files = []
        for i in range(90):
            extents = [(max(0, chance.choice(places) // 4096 - chance.randrange(40)),
                        chance.randrange(1, 60)) for _ in range(chance.randrange(1, 4))]
            files.append((f"/folder/file {i}", chance.choice(["live", "deleted", "deleted"]), extents))
        files.append(("/sparse", "live", [(None, 10**6)]))
        return files

    @staticmethod
    def true_name(files, place, shift=0):
        """The first file in use whose clusters have the byte, else the first other one."""
        def has(extents):
            return any(at is not None and at * 4096 + shift <= place < (at + count) * 4096 + shift
                       for at, count in extents)
        found = [(path, state) for path, state, extents in files if has(extents)]
        return next((one for one in found if one[1] == "live"), found[0] if found else ("", ""))

    def test_requests_are_named_by_place(self):
        for path in self.traces:
            places = [int(row["offset"]) for row in self.rows(path)]
            files = self.random_files(places)
            for shift, options in (0, []), (1 << 20, ["--snapshot-offset", 1 << 20]):
                with self.subTest(trace=path.name, shift=shift):
                    snapshot = self.write("files.ndjson", snapshot_lines(0, 4096, files))
                    rows = self.rows(path, "--snapshot", snapshot, *options)
                    packed = self.folder / "files.gz"
                    packed.write_bytes(gzip.compress(snapshot.read_bytes()))
                    self.assertEqual(self.rows(path, "--snapshot", packed, *options), rows)
                    expected = [self.true_name(files, place, shift) for place in places]
                    self.assertEqual([(row["snapshot_file"], row["snapshot_state"])
                                      for row in rows], expected)
                    self.assertEqual({state for _, state in expected} - {""}, {"live", "deleted"})
                    answer = self.answer(path, "--snapshot", snapshot, *options)
                    named = [one for one in expected if one[0]]
                    self.assertEqual(answer["snapshot"]["named"], len(named))
                    # The simulated disk's requests have no other names.
                    self.assertEqual({(one["file"], one["state"])
                                      for one in answer["disk"]["files"] if one["file"]},
                                     set(named))

    def test_another_disk_is_not_named(self):
        path = self.traces[0]
        places = [int(row["offset"]) for row in self.rows(path)]
        snapshot = self.write("files.ndjson", snapshot_lines(0, 4096, self.random_files(places)))
        answer = self.answer(path, "--snapshot", snapshot, "--snapshot-disk", 1, status=1)
        self.assertEqual([one["code"] for one in answer["findings"]],
                         ["snapshot-without-requests"])
        self.assertEqual(answer["snapshot"]["named"], 0)
        self.assertEqual([one["file"] for one in answer["disk"]["files"]], [None])

    def test_names_that_contradict_the_trace_are_told(self):
        """All of the disk given to one file: that of most requests, or another one."""
        path = sample("etl", "pv_net.4.5.2.x64.etl")
        traced = [row["file"] for row in self.rows(path) if row["offset"]]
        most = "\\Device\\HarddiskVolume2\\Windows\\Microsoft.NET\\Framework64\\v4.0.30319\\clr.dll"
        alike = traced.count(most)
        self.assertGreater(alike, len(traced) / 2)
        same = "/WINDOWS" + most.split("Windows")[1].replace("\\", "/")
        for name, agreeing in (same, alike), ("/clr.dll", 0), ("/another", 0):
            snapshot = self.write("files.ndjson",
                                  snapshot_lines(0, 4096, [(name, "live", [(0, 1 << 30)])]))
            answer = self.answer(path, "--snapshot", snapshot, status=0 if agreeing else 1)
            told = answer["snapshot"]
            self.assertEqual((told["named"], told["alike"], told["unlike"]),
                             (len(traced), agreeing, len([one for one in traced if one]) - agreeing))
            self.assertEqual([one["code"] for one in answer["findings"]],
                             [] if agreeing else ["snapshot-mismatch"])

    def test_what_is_assumed_is_told(self):
        path = self.traces[0]
        snapshot = self.write("files.ndjson", snapshot_lines(0, 4096, [("/a", "live", [(0, 1)])], table="volume"))
        codes = lambda answer: [one["code"] for one in answer["findings"]]
        self.assertEqual(codes(self.answer(path, "--snapshot", snapshot)), ["snapshot-place"])
        self.assertEqual(codes(self.answer(path, "--snapshot", snapshot, "--snapshot-offset", 0)), [])
        snapshot = self.write("files.ndjson", snapshot_lines(0, 4096, [("/a", "live", [(0, 1)])], complete=False))
        self.assertEqual(codes(self.answer(path, "--snapshot", snapshot, status=1)),
                         ["snapshot-incomplete"])
        part, whole = [list(snapshot_lines(0, 4096, [("/a", "live", [(0, 1)])], complete=complete))
                       for complete in (False, True)]
        other = list(snapshot_lines(0, 4096, [("/b", "live", [(0, 1)])], table="gpt"))
        other[0]["partition"] = {"number": 2, "offset": 4096}
        for lines in (whole + part[1:], part + other[:2] + [other[2] | {"counts": {"volumes": 1}}],
                      whole[:-1] + [{"type": "files"}] + whole[-1:]):
            other[0]["disk"] = part[0]["disk"]
            answer = self.answer(path, "--snapshot", self.write("files.ndjson", lines), status=1)
            self.assertEqual(codes(answer), ["snapshot-incomplete"])
        self.assertEqual(codes(self.answer(path, "--snapshot", self.write("files.ndjson", part + other))), [])

    def test_what_a_snapshot_lacks_is_told(self):
        """Places of what is not in it have no name."""
        path = self.traces[0]
        files = [("/a", "live", [(0, 1)]), ("/b", "deleted", [(1, 1)])]
        lines = list(snapshot_lines(0, 4096, files))

        def told(counts, rows=lines[1:-1], status=0, findings=()):
            summary = {"type": "summary", "complete": True, "counts": counts, "findings": list(findings)}
            for command in "io", "idle":
                done = run("trace", command, path, "--format", "json", "--snapshot",
                           self.write("files.ndjson", [lines[0], *rows, summary]))
                self.assertEqual(done.returncode, status, done.stderr.decode())
                answer = strict_json(done.stdout)
                yield [(one["code"], one["text"]) for one in answer["findings"]]

        for each in told({"live": 1, "deleted": 1}):
            self.assertEqual(each, [])
        for each in told({"live": 1, "deleted": 7}, lines[1:2]):
            self.assertEqual(each, [("snapshot-left-out", "not in the snapshot: 7 deleted")])
        for each in told({"live": 3, "deleted": 1}, status=1):
            self.assertEqual(each, [("snapshot-selection", "the snapshot lacks names that its last line "
                                     "counts: 1 of 3 live. The others name no request")])
        for each in told({"live": 1, "deleted": 0}, status=1):
            self.assertEqual(each, [("snapshot-selection", "the snapshot has more names than its last line "
                                     "counts: 1 of 0 deleted")])
        damage = {"code": "torn-fixup", "severity": "warning", "count": 3}
        for each in told({"live": 1, "deleted": 1}, status=1, findings=[damage]):
            self.assertEqual([code for code, _ in each], ["snapshot-findings"])
            self.assertIn("torn-fixup (3)", each[0][1])

    def test_several_snapshots_in_one_file_are_refused(self):
        """Places of the second disk would have names of files of the first."""
        one = list(snapshot_lines(0, 4096, [("/a", "live", [(0, 1)])]))
        other = list(snapshot_lines(0, 4096, [("/b", "live", [(0, 1)])], table="gpt"))
        for lines, words in ((one + one, b"several snapshots"), (one[:-1] + one, b"several snapshots"),
                             (one[:-1] + other, b"snapshots of several disks")):
            for command in "io", "idle":
                done = run("trace", command, self.traces[0], "--snapshot", self.write("files.ndjson", lines))
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(words, done.stderr)

    def test_a_snapshot_that_can_name_nothing_is_told(self):
        path = self.traces[0]
        codes = lambda *options: [one["code"] for one in self.answer(
            path, "--snapshot", self.folder / "files.ndjson", *options, status=1)["findings"]]
        for cluster, files, options in (
                (4096, [], []), (4096, [("/sparse", "live", [(None, 5)])], []),
                (None, [("/a", "live", [])], [])):
            self.write("files.ndjson", snapshot_lines(0, cluster, files))
            self.assertEqual(codes(*options), ["snapshot-without-places"])

    def test_extents_that_no_disk_has_are_counted(self):
        far = 2**64 - 4096
        whole = {"offset": 0, "clusters": 1 << 40}
        for extents, options, count in (
                ([whole, {"offset": None, "clusters": 7}], [], 0),
                ([{"offset": 0, "clusters": 1 << 52}, whole], [], 1),
                ([whole, {"offset": far, "clusters": 1}, {"offset": far, "clusters": 2}], [], 2),
                ([whole, {"offset": far, "clusters": 1}], ["--snapshot-offset", 4096], 1),
                ([whole, {"offset": str(1 << 60), "clusters": 1}], [], 0),
                ([whole, {"offset": 0, "clusters": 0}, {"offset": -1, "clusters": 1},
                  {"offset": "0", "clusters": 1}, {"clusters": 1}, {"offset": 0}, [], None], [], 7)):
            lines = list(snapshot_lines(0, 4096, [("/a", "live", [])]))
            lines[1]["streams"][0]["extents"] = extents
            answer = self.answer(self.traces[0], "--snapshot", self.write("files.ndjson", lines),
                                 *options, status=1 if count else 0)
            self.assertEqual([(one["code"], int(one["text"].split()[0]))
                              for one in answer["findings"]],
                             [("snapshot-extent", count)] if count else [])

    def test_each_file_in_use_comes_before_a_deleted_one(self):
        """As ntfs-snapshot.md defines the states."""
        for state in "live", "detached", "unreachable", "unnamed", "stale", "slack":
            files = [("/gone", "deleted", [(0, 1 << 40)]), ("/it", state, [(0, 1 << 40)])]
            snapshot = self.write("files.ndjson", snapshot_lines(0, 4096, files))
            rows = self.rows(self.traces[0], "--snapshot", snapshot)
            expected = ("/gone", "deleted") if state in ("stale", "slack") else ("/it", state)
            self.assertEqual({(row["snapshot_file"], row["snapshot_state"]) for row in rows},
                             {expected})

    def test_options_of_a_snapshot_are_checked(self):
        snapshot = self.write("files.ndjson", snapshot_lines(0, 4096, [("/a", "live", [(0, 1)])]))
        for command in "io", "idle":
            for options in (["--snapshot", ""], ["--snapshot-offset", 5], ["--snapshot-disk", 0],
                            ["--snapshot", snapshot, "--snapshot-offset", "-1"],
                            ["--snapshot", snapshot, "--snapshot-disk", "-1"]):
                done = run("trace", command, self.traces[0], *options)
                self.assertEqual((done.returncode, done.stdout), (2, b""), options)
                self.assertIn(b"--snapshot", done.stderr)

    def test_lines_are_as_long_as_they_may_be_and_blank_ones_are_none(self):
        lines = list(snapshot_lines(0, 4096, [("/a", "live", [(0, 1)])]))
        text = [json.dumps(line) for line in lines]
        path = self.folder / "lines.ndjson"
        long = '{"type":"file","padding":"' + "x" * (16 << 20) + '"}'
        wrong = '{"type":"file","path":"/b","state":"' + "x" * 99 + '","streams":[]}'
        many = '{"type":"file","path":"/b","state":"live","streams":[' + "0," * 4_000_000 + "0]}"
        deep = "[" * (15 << 20)
        for more, codes in ([""], []), ([" \t"], []), ([long], ["snapshot-incomplete"]), (
                [wrong], ["snapshot-incomplete"]), ([many], ["snapshot-incomplete"]), (
                [deep], ["snapshot-incomplete"]):
            path.write_bytes("\r\n".join(["", *text, *more, ""]).encode())
            answer = self.answer(self.traces[0], "--snapshot", path, status=1 if codes else 0)
            self.assertEqual([one["code"] for one in answer["findings"]], codes)

    def test_what_is_no_snapshot_is_refused(self):
        for text in "", "{}\n", "[]\n", '{"type":"header","schema":"coldtrace.trace/1"}\n', "\0" * 99:
            wrong = self.folder / "wrong.ndjson"
            wrong.write_text(text)
            done = run("trace", "io", self.traces[0], "--snapshot", wrong)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(b"ntfs snapshot", done.stderr)
        self.assertEqual(run("trace", "io", self.traces[0], "--snapshot", "absent").returncode, 2)

    def test_files_of_a_real_volume_are_named(self):
        """A request is laid onto each of its files in turn by where the image begins."""
        image = sample_volume(sample("ntfs", "ntfs-ptrn.raw.gz"))
        listed = self.folder / "listed.ndjson"
        done = run("ntfs", "snapshot", image, "--state", "all", "-o", listed)
        self.assertIn(done.returncode, (0, 1))
        place = max(int(row["offset"]) for row in self.rows(self.traces[0]))
        claims = []  # (name, state, from, to), in the order of the lines
        for line in map(json.loads, listed.read_text().splitlines()):
            for stream in line.get("streams", []) + line.get("other_streams", []):
                path = line["path"] or f"/<record {line['record']}>"
                name = path + (f":{stream['name']}" if stream["name"] else "")
                claims += [(name, line["state"], extent["offset"],
                            extent["offset"] + extent["clusters"] * 4096)
                           for extent in stream["extents"] if extent["offset"] is not None]
        claims.sort(key=lambda claim: claim[1] != "live")
        seen = set()
        for name, state, begin, _ in claims:
            if begin > place or (state, name[:5]) in seen:
                continue
            seen.add((state, name[:5]))
            rows = self.rows(self.traces[0], "--snapshot", listed, "--snapshot-offset",
                             place - begin)
            told = {(row["snapshot_file"], row["snapshot_state"]) for row in rows
                    if int(row["offset"]) == place}
            self.assertEqual(told, {next(claim[:2] for claim in claims
                                         if claim[2] <= begin < claim[3])})
        self.assertGreater(len(seen), 4)


class Idle(Case):
    """What `trace idle` says, against the requests, switches and transfers themselves."""
    def idle(self, *arguments, status=0):
        done = run("trace", "idle", *arguments, "--format", "json")
        self.assertEqual(done.returncode, status, done.stderr.decode())
        answer = strict_json(done.stdout)
        json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace-idle.schema.json").read_text())).validate(answer)
        for device in answer["devices"]:
            self.assertEqual(device["busy"] + device["idle"] + device["unknown"],
                             answer["elapsed"])
            self.check_savings(answer, device)
        return answer

    def idle_rows(self, *arguments, status=0):
        """The idle times of each device: (begin, length, tid or None, row)."""
        done = run("trace", "idle", *arguments, "--format", "csv")
        self.assertEqual(done.returncode, status, done.stderr.decode())
        devices = defaultdict(list)
        for row in strict_csv(done.stdout):
            seconds, digits = row["from"].split(".")
            devices[row["device"], int(row["number"])].append(
                (int(seconds) * 10**7 + int(digits), int(row["duration"]),
                 int(row["tid"]) if row["tid"] else None, row))
        return devices

    def check_savings(self, answer, device):
        """From the exact lengths where all are told."""
        count = sum(step["count"] for step in device["idle_times"])
        if count > len(device["longest"]):
            return
        idle = [(one["duration"], one["end"] is not None) for one in device["longest"]]
        for told in device["savings"]:
            over = [(length, ended) for length, ended in idle if length > told["timeout"]]
            self.assertEqual(told["off"], sum(length - told["timeout"] for length, _ in over))
            self.assertEqual(told["spin_ups"], sum(ended for _, ended in over))
            self.assertEqual(told["waiting"], told["spin_ups"] * answer["spin_up"])
        best = [(length, ended) for length, ended in idle if length > answer["break_even"]]
        self.assertEqual(device["optimum"]["off"], sum(length for length, _ in best))
        self.assertEqual(device["optimum"]["spin_ups"], sum(ended for _, ended in best))

    @staticmethod
    def gaps(intervals, first, last):
        """Between the intervals, each with the number of the one that ends it."""
        reached, found = first, []
        for begin, end, who in sorted(intervals):
            if begin > reached:
                found.append((reached, begin - reached, who))
            reached = max(reached, end)
        return found + ([(reached, last - reached, None)] if last > reached else [])

    def made(self, name, seed, form):
        path = self.folder / f"idle-{name}-{seed}.{form}"
        if form == "etl":
            subprocess.run([MAKE_SCENARIO_ETL, name, str(seed), "0", "4", path], check=True)
        else:
            run("trace", "synthesize", name, "--seed", seed, "-o", path)
        answers = strict_json(run("trace", "synthesize", name, "--seed", seed,
                                  "--format", "json").stdout)
        return path, answers

    def test_disks_rest_between_the_true_requests(self):
        told = 0
        for name in "disk-idle", "disk-bursts":
            for seed in SEEDS:
                for form in "ctrace", "etl":
                    path, answers = self.made(name, seed, form)
                    with self.subTest(trace=path.name):
                        answer = self.idle(path, "--idle-timeout", "1,10,100", "--spin-up", 5,
                                           "--break-even", 50)
                        first = ticks_of(answer["first_event"]) - ticks_of(answers["start"])
                        last = ticks_of(answer["last_event"]) - ticks_of(answers["start"])
                        requests = answers["disk_requests"]
                        self.assertTrue(all(one["end"] is not None for one in requests))
                        tids = [thread["tid"] for thread in answers["threads"]]
                        expected = self.gaps([(one["start"], one["end"], tids[one["thread"]])
                                              for one in requests], first, last)
                        rows = self.idle_rows(path)["disk", 0]
                        self.assertEqual([(begin + first, length, tid)
                                          for begin, length, tid, _ in rows], expected)
                        disk = next(one for one in answer["devices"] if one["device"] == "disk")
                        self.assertEqual(disk["unknown"], 0)
                        self.assertEqual(disk["busy"], united(
                            (one["start"], one["end"]) for one in requests))
                        told += len(rows)
        self.assertGreater(told, 250)

    def test_a_device_that_never_rests_has_no_idle_times(self):
        log = EtlWriter(1)
        log.switch(0, 100, 0, 1000, state=2)
        log.switch(0, 900, 1000, 2000)
        path = self.folder / "busy.etl"
        path.write_bytes(log.build())
        device, = self.idle(path)["devices"]
        self.assertEqual((device["idle"], device["idle_times"]), (0, []))
        self.assertIn(b"(0 times, p50 -, longest -)", run("trace", "idle", path).stdout)
        page = self.folder / "busy.html"
        self.assertEqual(run("report", path, "-o", page).returncode, 0)
        row = re.search(r'id="idle-table".*?<tbody>(.*?)</tr>', page.read_text(), re.S)[1]
        self.assertEqual(re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", row)[3:6], ["0", "-", "-"])

    def test_processors_rest_while_their_idle_thread_runs(self):
        told = 0
        for name in "producer-consumer", "server", "migration":
            for form in "ctrace", "etl":
                path, answers = self.made(name, 2, form)
                lines = strict_ndjson(run("trace", "decode", path).stdout)
                switches = defaultdict(list)
                for line in lines:
                    fields = line.get("fields", {})
                    if line.get("name") in ("ContextSwitch", "Thread/CSwitch"):
                        old, new = ("old_thread", "new_thread") if form == "ctrace" else (
                            "OldThreadId", "NewThreadId")
                        switches[line["cpu"]].append(
                            (ticks_of(line["time"]), fields[old], fields[new]))
                with self.subTest(trace=path.name):
                    rows = self.idle_rows(path)
                    answer = self.idle(path)
                    first = ticks_of(answer["first_event"])
                    for cpu, chain in switches.items():
                        expected = [(one[0] - first, two[0] - one[0], two[2])
                                    for one, two in zip(chain, chain[1:]) if one[2] == 0]
                        self.assertEqual([row[:3] for row in rows["processor", cpu]], expected)
                        told += len(expected)
                        device = next(one for one in answer["devices"]
                                      if (one["device"], one["number"]) == ("processor", cpu))
                        self.assertEqual(device["busy"] + device["idle"],
                                         chain[-1][0] - chain[0][0])
        self.assertGreater(told, 100)

    @staticmethod
    def causes(lines):
        """Of each processor, why it went to the threads that ended its idle times: an interrupt (a DPC)
        has made them ready since they left to wait, or not."""
        left, woken, runs, causes = {}, {}, {}, defaultdict(list)
        for line in lines:
            fields, name = line.get("fields", {}), line.get("name")
            if name == "Thread/ReadyThread":
                tid = fields["TThreadId"]
                if left.get(tid) != 1 and tid not in woken and tid not in runs.values():
                    woken[tid] = fields["Flag"] & 1 or runs.get(line["cpu"]) == 0
            elif name == "Thread/CSwitch":
                old, new = fields["OldThreadId"], fields["NewThreadId"]
                if old == new:
                    continue
                left[old] = fields["OldThreadState"]
                if runs.get(line["cpu"]) == 0:
                    causes[line["cpu"]].append("interrupt" if woken.get(new) else "switch")
                woken.pop(new, None)
                runs[line["cpu"]] = new
        return causes

    def test_idle_times_of_processors_end_by_interrupts_and_by_threads(self):
        subprocess.run([MAKE_IO_TRACES, self.folder], check=True)
        paths = [self.folder / "preemption.etl"]
        paths += [self.made(name, seed, "etl")[0] for seed in SEEDS
                  for name in ("producer-consumer", "server", "migration", "priority-inversion")]
        all_causes = set()
        for path in paths:
            with self.subTest(trace=path.name):
                expected = self.causes(strict_ndjson(run("trace", "decode", path).stdout))
                told = {cpu: [row["cause"] for _, _, _, row in rows]
                        for (device, cpu), rows in self.idle_rows(path).items()
                        if device == "processor"}
                self.assertEqual(told, dict(expected))
                all_causes |= {one for causes in expected.values() for one in causes}
        self.assertEqual(all_causes, {"interrupt", "switch"})
        answer = self.idle(paths[0])
        self.assertEqual([[one["end"]["tid"], one["end"]["cause"]]
                          for one in sorted(answer["devices"][0]["longest"],
                                            key=lambda one: one["from"])],
                         [[44, "interrupt"], [44, "switch"], [48, "switch"]])
        self.assertEqual([(one["tid"], one["count"], one["duration"])
                          for one in answer["devices"][0]["ended_by"]],
                         [(44, 2, 1500), (48, 1, 1000)])

    def test_the_network_is_busy_when_requests_end_that_move_bytes(self):
        """The same two that `trace io` has, by whoever asked for them."""
        subprocess.run([MAKE_IO_TRACES, self.folder], check=True)
        path = self.folder / "network.ctrace"
        lines = [line for line in strict_ndjson(run("trace", "decode", path).stdout)
                 if line.get("name", "").startswith("Network")]
        asked, expected = {}, []
        for line in lines:
            fields = line["fields"]
            if line["name"] == "NetworkRequest":
                asked[fields["irp"]] = fields
            else:
                request = asked.pop(fields["irp"], None)
                if request and request["minor"] in (7, 8, 9, 10):
                    expected.append((ticks_of(line["time"]), request["process"]))
        answer = self.idle(path, "--network-window", 0, status=1)
        self.assertEqual([one["code"] for one in answer["findings"]],
                         ["request-unmatched", "request-unknown"])
        first = ticks_of(answer["first_event"])
        rows = self.idle_rows(path, "--network-window", 0, status=1)["network", 0]
        self.assertEqual([(begin + length + first, int(row["pid"]))
                          for begin, length, _, row in rows if row["cause"]], expected)
        self.assertEqual(len(expected), 2)

    def test_of_what_is_missing_nothing_is_idle(self):
        """An IRP that began twice, and one that did not end: see make_io_traces.cpp. In doubt are 100
        to 90,000; 90,100 to 90,200; from 90,400 on."""
        subprocess.run([MAKE_IO_TRACES, self.folder], check=True)
        rows = self.idle_rows(self.folder / "unmatched.etl", status=1)["disk", 0]
        self.assertEqual([row[:3] for row in rows], [(90_300, 100, None)])

    def test_a_real_disk_and_its_network(self):
        path = sample("etl", "pv_net.4.5.2.x64.etl")
        answer = self.idle(path, "--network-window", 200)
        first, last = ticks_of(answer["first_event"]), ticks_of(answer["last_event"])
        lines = strict_ndjson(run("trace", "decode", path, "--event",
                                  "DiskIo,TcpIp,UdpIp").stdout)
        disk, network = [], []
        for line in lines:
            if line["type"] != "event":
                continue
            time, name, fields = ticks_of(line["time"]), line["name"], line["fields"]
            if name in ("DiskIo/Read", "DiskIo/Write", "DiskIo/FlushBuffers"):
                disk.append((time - fields["HighResResponseTime"], time,
                             fields["IssuingThreadId"]))
            elif name.split("/")[1][:4] in ("Send", "Recv", "Retr"):
                network.append((time - 10**6, min(last, time + 10**6), fields["PID"]))
        rows = self.idle_rows(path, "--network-window", 200)
        expected = [(begin - first, length) for begin, length, _ in self.gaps(disk, first, last)]
        self.assertEqual([row[:2] for row in rows["disk", 0]], expected)
        expected = [(begin - first, length, pid)
                    for begin, length, pid in self.gaps(network, first, last)]
        self.assertEqual([(begin, length, int(row["pid"]) if row["pid"] else None)
                          for begin, length, _, row in rows["network", 0]], expected)
        self.assertGreater(len(expected), 3)
        self.assertEqual({row[3]["cause"] for row in rows["disk", 0]}, {"request", ""})
        # The requests that ended them, with their files.
        self.assertGreater(len({row[3]["file"] for row in rows["disk", 0]}), 10)

    def test_a_trace_without_devices_is_no_match(self):
        path = sample("etl", "pv_primitive-types.etl")
        answer = self.idle(path, status=1)
        self.assertEqual(answer["devices"], [])
        self.assertIn("no-match", [one["code"] for one in answer["findings"]])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
