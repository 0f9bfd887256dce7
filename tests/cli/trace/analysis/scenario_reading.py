"""Reads what `trace decode` says of a scenario, of either format, and adds up its times.

Written from the rules of docs/formats and of the events' own documents, not from the simulator: the
switches of each processor say which thread has it, and all else follows from that.
"""
from collections import defaultdict
from datetime import datetime, timezone

WAITING, TERMINATED = 5, 4
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def ticks_of(text):
    """An ISO time with seven digits, in units of 100 ns."""
    seconds, digits = text.rstrip("Z").split(".")
    whole = datetime.fromisoformat(seconds).replace(tzinfo=timezone.utc) - EPOCH
    return (whole.days * 86400 + whole.seconds) * 10**7 + int(digits)


def wmk(name, fields):
    thread, status = fields.get("thread"), fields.get("status")
    return {
        "ContextSwitch": lambda: ("switch", {
            "old": fields["old_thread"], "new": fields["new_thread"],
            "state": fields["old_state"], "reason": fields["old_wait_reason"]}),
        "ThreadCreate": lambda: ("thread", {"tid": fields["new_thread"],
                                            "pid": fields["new_process"]}),
        "ThreadEnd": lambda: ("thread-end", {"tid": thread, "status": fields["exit_status"]}),
        "ProcessCreate": lambda: ("process", {"pid": fields["new_process"]}),
        "ProcessEnd": lambda: ("process-end", {"pid": fields["process"]}),
        "WaitBegin": lambda: ("wait", {"object": fields["object"], "type": fields["object_type"],
                                       "reason": fields["reason"]}),
        "WaitSatisfied": lambda: ("satisfied", {"tid": thread, "object": fields["object"],
                                                "status": status}),
        "SystemCall": lambda: ("enter", {"service": (fields["number"], 0)}),
        "SystemCallReturn": lambda: ("exit", {"service": (fields["number"], 0)}),
    }.get(name, lambda: ("other", {}))()


def vtrace(name, fields):
    return {
        "ContextSwitch": lambda: ("switch", {
            "old": fields["old_thread"], "new": fields["new_thread"],
            "state": None, "reason": None}),
        "ThreadStart": lambda: ("thread", {"tid": fields["thread"], "pid": fields["process"]}),
        "ThreadStop": lambda: ("thread-end", {"tid": fields["thread"], "status": None}),
        "ProcessStart": lambda: ("process", {"pid": fields["process"]}),
        "ProcessStop": lambda: ("process-end", {"pid": fields["process"]}),
        "WaitBegin": lambda: ("begin", {"objects": fields["objects"], "any": fields["wait_type"],
                                        "timeout": fields["timeout"]}),
        "WaitEnd": lambda: ("end", {"status": fields["status"]}),
        # The disk's IRP lies right behind the file system's.
        "DiskRequest": lambda: ("disk", {"irp": int(fields["irp"], 16) - 0x100}),
        "DiskCompletion": lambda: ("disk-end", {"irp": int(fields["irp"], 16) - 0x100}),
    }.get(name, lambda: ("other", {}))()


def dynamic_tracing(name, fields):
    if name == "SystemServiceEnter":
        return "enter", {"service": (None, fields["name_hash"])}
    if name == "SystemServiceExit":
        return "exit", {"service": (None, fields["name_hash"])}
    return "other", {}


def etw(name, fields):
    return {
        "Thread/CSwitch": lambda: ("switch", {
            "old": fields["OldThreadId"], "new": fields["NewThreadId"],
            "state": fields["OldThreadState"], "reason": fields["OldThreadWaitReason"]}),
        "Thread/ReadyThread": lambda: ("ready", {"tid": fields["TThreadId"],
                                                 "dpc": fields["Flag"] & 1}),
        "Thread/Start": lambda: ("thread", {"tid": fields["TThreadId"],
                                            "pid": fields["ProcessId"]}),
        "Thread/End": lambda: ("thread-end", {"tid": fields["TThreadId"], "status": None}),
        "Process/Start": lambda: ("process", {"pid": fields["ProcessId"]}),
        "Process/End": lambda: ("process-end", {"pid": fields["ProcessId"]}),
        "PerfInfo/SysClEnter": lambda: ("enter", {"service": fields["SysCallAddress"]}),
        "PerfInfo/SysClExit": lambda: ("exit", {"service": None}),
        "PerfInfo/ISR": lambda: ("routine", {"kind": "isr", "address": fields["Routine"],
                                             "begun": fields["InitialTime"]}),
        "PerfInfo/TimerDPC": lambda: ("routine", {"kind": "timer_dpc", "address": fields["Routine"],
                                                  "begun": fields["InitialTime"]}),
        "PerfInfo/DPC": lambda: ("routine", {"kind": "dpc", "address": fields["Routine"],
                                             "begun": fields["InitialTime"]}),
        "DiskIo/ReadInit": lambda: ("disk", {"irp": int(fields["Irp"], 16)}),
        "DiskIo/WriteInit": lambda: ("disk", {"irp": int(fields["Irp"], 16)}),
        "DiskIo/Read": lambda: ("disk-end", {"irp": int(fields["Irp"], 16)}),
        "DiskIo/Write": lambda: ("disk-end", {"irp": int(fields["Irp"], 16)}),
    }.get(name, lambda: ("other", {}))()


class Event:
    def __init__(self, line, start):
        provider = line["provider"]["name"]
        read = {"wmk": wmk, "vtrace": vtrace, "dynamic_tracing": dynamic_tracing}.get(provider, etw)
        self.name, self.fields = line["name"], line["fields"]
        self.time, self.cpu = ticks_of(line["time"]) - start, line["cpu"]
        # What the header or the data has; what the decoder infers is for this reader to find.
        self.tid = None if "thread_source" in line else line["tid"]
        self.kind, self.is_ = read(self.name, self.fields)


class Thread:
    """One life of a thread id."""
    def __init__(self, tid, created=None, creator=None, pid=None):
        self.tid, self.created, self.creator, self.pid = tid, created, creator, pid
        self.ended = None
        self.runs = []          # (cpu, from, to)
        self.outs = []          # (time, state, reason, ready time or None, time of the next run)
        self.ready_at = None
        self.calls = []


class Reading:
    """`problems` is what contradicts the rules."""
    def __init__(self, lines, elapsed):
        header = next(line for line in lines if line["type"] == "header")
        self.start = ticks_of(header["session"]["start_time"])
        self.elapsed = elapsed
        self.problems = []
        # Of what ends here the begin may be missing.
        session = header["session"]
        self.is_whole = not (session.get("wrap_around") or int(session.get("log_file_mode", "0"), 16) & 2)
        self.lost = sorted((ticks_of(line["time"]) - self.start, line["cpu"])
                           for line in lines if line["type"] == "gap")
        self.is_whole &= not self.lost
        self.events = [Event(line, self.start) for line in lines if line["type"] == "event"]
        self.threads = {}                     # the present life of each id
        self.lives = []
        self.processors = defaultdict(list)   # (from, to, tid), in order
        self.waits = defaultdict(lambda: [0, 0])  # of (life, object): count, time
        self.services = defaultdict(lambda: [0, 0, 0, 0])
        self.routines = defaultdict(lambda: [0, 0, 0])
        self.disk = []                        # (irp, from, to, tid)
        self.creations = []                   # (creator's tid, pid or None, tid or None)
        self.read()

    def problem(self, event, text):
        self.problems.append(f"{event.time} cpu {event.cpu} {event.name}: {text}")

    def life(self, tid):
        if tid not in self.threads:
            self.threads[tid] = Thread(tid)
            self.lives.append(self.threads[tid])
        return self.threads[tid]

    def read(self):
        """Processor by processor for what a thread does on one; in order of time for the rest."""
        self.current, self.since, self.routine_stack = {}, {}, defaultdict(list)
        self.open_waits, self.open_disk, self.seen_gaps = {}, {}, set()
        for event in self.in_causal_order():
            self.check_thread(event)
            getattr(self, "on_" + event.kind.replace("-", "_"), lambda event: None)(event)
        for cpu, tid in self.current.items():
            self.leave(cpu, self.elapsed)

    def in_causal_order(self):
        """Of events at one time on several processors, a thread leaves one before it enters another."""
        events = list(self.events)
        at = 0
        while at < len(events):
            end = at
            while end < len(events) and events[end].time == events[at].time:
                end += 1
            tick = events[at:end]
            if len({event.cpu for event in tick}) > 1:
                tick = self.untangle(tick)
            yield from tick
            at = end

    @staticmethod
    def untangle(tick):
        queues = defaultdict(list)
        for event in tick:
            queues[event.cpu].append(event)

        def leaves_later(event, cpu):
            return event.kind == "switch" and event.is_["new"] != 0 and any(
                other.kind == "switch" and other.is_["old"] == event.is_["new"]
                for own, queue in queues.items() if own != cpu for other in queue)
        done = []
        while any(queues.values()):
            ready = [cpu for cpu in sorted(queues)
                     if queues[cpu] and not leaves_later(queues[cpu][0], cpu)]
            cpu = ready[0] if ready else next(cpu for cpu in sorted(queues) if queues[cpu])
            done.append(queues[cpu].pop(0))
        return done

    def check_thread(self, event):
        """Each event of a thread comes from the thread that has the processor."""
        if event.kind in ("satisfied", "switch", "routine") or event.tid is None:
            return
        if event.cpu in self.current and self.current[event.cpu] not in (None, event.tid):
            self.problem(event, f"of {event.tid}, but {self.current[event.cpu]} runs")

    def leave(self, cpu, time):
        tid, since = self.current[cpu], self.since[cpu]
        if tid is None:
            return
        self.processors[cpu].append((since, time, tid))
        if tid != 0:
            self.life(tid).runs.append((cpu, since, time))

    def on_switch(self, event):
        cpu, old, new = event.cpu, event.is_["old"], event.is_["new"]
        if cpu not in self.current:
            self.current[cpu], self.since[cpu] = old, 0
        if self.current[cpu] != old:
            gap = next((gap for gap in self.lost if gap not in self.seen_gaps
                        and gap[1] in (cpu, None) and gap[0] <= event.time), None)
            if gap is None:
                self.problem(event, f"{old} leaves, but {self.current[cpu]} ran")
            self.seen_gaps.add(gap)
            self.current[cpu] = None
        else:
            self.leave(cpu, event.time)
        if old != 0:
            thread = self.life(old)
            thread.outs.append([event.time, event.is_["state"], event.is_["reason"], None, None])
        if new != 0:
            thread = self.life(new)
            if thread.outs:
                thread.outs[-1][4] = event.time
        for other, tid in self.current.items():
            if new != 0 and other != cpu and tid == new and self.is_whole:
                self.problem(event, f"{new} runs on {other} too")
        self.current[cpu], self.since[cpu] = new, event.time

    def on_thread(self, event):
        self.creations.append((event.tid, None, event.is_["tid"]))
        made = Thread(event.is_["tid"], event.time, event.tid, event.is_["pid"])
        made.outs.append([event.time, 0, None, event.time, None])
        self.threads[made.tid] = made
        self.lives.append(made)

    def on_process(self, event):
        self.creations.append((event.tid, event.is_["pid"], None))

    def on_thread_end(self, event):
        self.life(event.is_["tid"]).ended = event.time

    def on_ready(self, event):
        thread = self.life(event.is_["tid"])
        if thread.outs and thread.outs[-1][3] is None:
            if thread.outs[-1][1] != WAITING:
                self.problem(event, "did not wait")
            thread.outs[-1][3] = event.time

    def on_wait(self, event):
        life = self.life(event.tid)
        self.open_waits.setdefault(life, {})[event.is_["object"]] = (event.time, event.is_["type"])
        self.waits[life, event.is_["object"]][0] += 1

    def on_satisfied(self, event):
        life = self.life(event.is_["tid"])
        began = self.open_waits.get(life, {}).pop(event.is_["object"], None)
        if began is None:
            if self.is_whole:
                self.problem(event, "no wait began")
            return
        self.waits[life, event.is_["object"]][1] += event.time - began[0]
        if life.outs and life.outs[-1][4] is None and life.outs[-1][1] == WAITING:
            life.outs[-1][3] = event.time

    def run_time(self, tid, time):
        life = self.life(tid)
        total = sum(to - since for _, since, to in life.runs)
        return total + sum(time - self.since[cpu]
                           for cpu, running in self.current.items() if running == tid)

    def thread_of(self, event):
        tid = event.tid if event.tid is not None else self.current.get(event.cpu)
        if tid is None and self.is_whole:
            self.problem(event, "nothing says which thread runs")
        return tid

    def on_enter(self, event):
        tid = self.thread_of(event)
        if tid is None:
            return
        self.life(tid).calls.append([event.is_["service"], event.time,
                                     self.run_time(tid, event.time), 0])

    def on_exit(self, event):
        tid = self.thread_of(event)
        calls = self.life(tid).calls if tid is not None else None
        if not calls:
            if self.is_whole:
                self.problem(event, "no call was open")
            return
        service, entered, run, inner = calls.pop()
        if event.is_["service"] not in (None, service):
            self.problem(event, f"the innermost call is {service}")
        inclusive = event.time - entered
        if calls:
            calls[-1][3] += inclusive
        sums = self.services[service]
        sums[0] += 1
        sums[2] += inclusive - inner
        if all(call[0] != service for call in calls):
            sums[1] += inclusive
            sums[3] += self.run_time(tid, event.time) - run

    def on_routine(self, event):
        """At its end: what began later on this processor was inside."""
        begun = ticks_of(event.is_["begun"]) - self.start
        stack, inner = self.routine_stack[event.cpu], 0
        while stack and stack[-1][0] >= begun and stack[-1][0] < event.time:
            inner += stack.pop()[1]
        stack.append((begun, event.time - begun))
        sums = self.routines[event.is_["kind"], event.is_["address"]]
        sums[0] += 1
        sums[1] += event.time - begun
        sums[2] += event.time - begun - inner

    def on_disk(self, event):
        if event.is_["irp"] in self.open_disk:
            self.problem(event, "its IRP is in use")
        self.open_disk[event.is_["irp"]] = (event.time, self.thread_of(event))

    def on_disk_end(self, event):
        began, tid = self.open_disk.pop(event.is_["irp"], (None, None))
        if began is None:
            self.problem(event, "no request is open")
        self.disk.append((event.is_["irp"], began, event.time, tid))
