"""scripts/scale-out: a batch in shards, of which one is killed in between, is what one plain run makes.

usage: scale_out.py COLDTRACE SOURCES [unittest arguments]
Under GNU parallel with machines that a script stands for, and under Slurm with three nodes that this machine stands
for; what is not installed is skipped.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from ntfs.journal import usn_writer
from case import Case
from strict import strict_ndjson

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
COMMAND = ["--out-layout", "hive", "--jobs", "1", "--", "ntfs", "snapshot", "--tolerate", "file-unreachable"]
SHARDS, INPUTS, HELD = 5, 25, 11  # the twelfth input is the third of shard 2

CONFIGURATION = """ClusterName=coldtrace
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={here}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool.%n
SlurmctldPidFile={here}/controller.pid
SlurmdPidFile={here}/node.%n.pid
SlurmctldLogFile={here}/controller.log
SlurmdLogFile={here}/node.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
SlurmdTimeout=10
KillWait=5
MinJobAge=600
SchedulerParameters=sched_interval=2,batch_sched_delay=0
NodeName=n[1-3] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

# Drops ssh's options, takes the host, and runs the command, where the host is not lost. SHELL is set as sshd sets it:
# without one, what GNU parallel sends ends without a word.
FAKE_SSH = """#!/bin/bash
while [[ $1 == -* ]]; do [[ $1 == -[op] ]] && shift; shift; done
host=$1; shift
[ "$1" = -- ] && shift
[ -e "$HOSTS/$host.dead" ] && exit 255
export FAKE_HOST=$host SHELL=/bin/bash
exec bash -c "$*"
"""


def wait_until(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"waited in vain for {condition}")
        time.sleep(0.02)


def words_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def parent_of(process):
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and not path.name.startswith("lock-")}


class Shards(Case):
    def setUp(self):
        super().setUp()
        volumes = [bytes(usn_writer.volume(usn_writer.History(seed, 20), 2)[0]) for seed in range(3)]
        (self.here / "images").mkdir()
        self.paths = [self.here / "images" / f"image {number:02}.img" for number in range(INPUTS)]
        for number, path in enumerate(self.paths):
            path.write_bytes(volumes[number % 3])
        self.list = self.write("list", b"".join(os.fsencode(path) + b"\n" for path in self.paths))
        self.out = self.here / "out"
        subprocess.run([COLDTRACE, "batch", "--list", self.list, "--out-dir", self.here / "plain", *COMMAND], check=True,
                       capture_output=True, timeout=60)
        # The run of shard 2 stands still here until it is killed.
        self.kept = self.here / "kept.img"
        self.paths[HELD].rename(self.kept)
        os.mkfifo(self.paths[HELD])
        self.environment = {**os.environ, "COLDTRACE": str(COLDTRACE)}

    def start(self, script, **variables):
        """The script, in a process group of its own, with what it says in a file: runs that outlive it hold no pipe."""
        environment = {**self.environment, **variables}
        log = tempfile.TemporaryFile(dir=self.here)
        process = subprocess.Popen([SOURCES / "scripts/scale-out" / script, str(SHARDS), self.list, self.out, *COMMAND],
                                   stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        process.log = log
        self.addCleanup(self.stop, process)
        return process

    def stop(self, process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        process.log.close()

    def end(self, process, seconds=120):
        """What the script said, once it has ended well."""
        try:
            process.wait(seconds)
        finally:
            process.log.seek(0)
            said = process.log.read()
            if process.returncode is None:
                print(f"after {seconds} s, processes of {self.out}:", said, sep="\n", file=sys.stderr)
                for folder in Path("/proc").glob("[0-9]*"):
                    if os.fsencode(self.out) in words_of(folder.name):
                        print(folder.name, words_of(folder.name), file=sys.stderr)
        self.assertEqual(process.returncode, 0, said)
        return said

    def held_run(self):
        """The process of shard 2, once it stands still; 0 before."""
        done = self.out / "_batch/ntfs-snapshot/manifest-2-of-5.ndjson"
        if not done.exists() or done.read_bytes().count(b'"type":"result"') < 2:
            return 0
        for folder in Path("/proc").glob("[0-9]*"):
            words = words_of(folder.name)
            if os.fsencode(self.out) in words and b"2/5" in words and words[0] == os.fsencode(COLDTRACE):
                if words_of(parent_of(folder.name)) != words:  # and none of its workers
                    return int(folder.name)
        return 0

    def release(self):
        self.paths[HELD].unlink()
        self.kept.rename(self.paths[HELD])

    def compare(self):
        self.assertEqual(tree(self.out), tree(self.here / "plain"))
        rows = list(strict_ndjson((self.out / "_batch/ntfs-snapshot/manifest.ndjson").read_bytes()))
        self.assertEqual([row["input"] for row in rows[1:-1]], list(map(str, self.paths)))


@unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
class Parallel(Shards):
    def test_a_shard_that_is_killed_is_done_again(self):
        process = self.start("parallel", PARALLEL_OPTIONS="--will-cite -j 2")
        wait_until(self.held_run)
        run = self.held_run()
        self.release()
        os.kill(run, signal.SIGKILL)
        said = self.end(process)
        self.assertIn(b"25 inputs: 25 done (25 of an earlier run", said)
        self.compare()

    def test_a_machine_that_is_lost_costs_nothing(self):
        ssh = self.write("ssh", FAKE_SSH.encode())
        ssh.chmod(0o755)
        process = self.start("parallel", HOSTS=str(self.here),
                             PARALLEL_OPTIONS=f"--will-cite --ssh {ssh} -S 1/a,1/b")
        wait_until(self.held_run)
        run = self.held_run()
        host, = [word.decode().split("=")[1] for word in Path(f"/proc/{run}/environ").read_bytes().split(b"\0")
                 if word.startswith(b"FAKE_HOST=")]
        self.write(f"{host}.dead", b"")
        self.release()
        os.kill(run, signal.SIGKILL)
        self.end(process)
        self.compare()

    def ancestors(self, process):
        while process > 1:
            yield process
            process = parent_of(process)

    def test_parallel_itself_is_killed_and_run_again(self):
        process = self.start("parallel", PARALLEL_OPTIONS="--will-cite -j 2")
        wait_until(self.held_run)
        run = self.held_run()
        parents = [each for each in self.ancestors(run) if any(b"parallel" in word for word in words_of(each)[:3])]
        for each in parents:
            if each != process.pid and parent_of(each) == process.pid:
                os.kill(each, signal.SIGKILL)
        process.kill()
        # The shard lives on: a second run waits for it.
        again = self.start("parallel", PARALLEL_OPTIONS="--will-cite -j 2")
        time.sleep(0.5)
        self.release()
        os.kill(run, signal.SIGKILL)
        self.end(again)
        self.compare()


@unittest.skipUnless(all(map(shutil.which, ("slurmctld", "slurmd", "munged", "sbatch"))), "Slurm is not installed")
@unittest.skipUnless(os.geteuid() == 0, "Slurm's programs are run as root here")
class Slurm(Shards):
    def setUp(self):
        super().setUp()
        self.here.chmod(0o755)
        host = os.uname().nodename
        port = 30000 + os.getpid() % 2000 * 10
        self.slurm = self.here / "slurm"
        for name in ("munge", "state"):
            (self.slurm / name).mkdir(parents=True, mode=0o755)
        configuration = self.write("slurm.conf", CONFIGURATION.format(
            host=host, port=port, first=port + 1, last=port + 3, here=self.slurm, user="root").encode())
        self.environment["SLURM_CONF"] = str(configuration)
        key = self.slurm / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        munge = self.slurm / "munge"
        self.daemon("munged", "--force", "--foreground", f"--key-file={key}", f"--socket={munge}/socket",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait_for_slurm((munge / "socket").exists, "munged made no socket")
        self.daemon("slurmctld", "-D", "-c")
        self.nodes = {name: self.daemon("slurmd", "-D", "-N", name) for name in ("n1", "n2", "n3")}
        self.wait_for_slurm(lambda: self.ask("sinfo", "-h", "-N", "-o", "%t").split() == ["idle"] * 3, "no idle nodes")

    def wait_for_slurm(self, condition, lack):
        """What Slurm itself does not do in a minute, with a host without a name for example, decides nothing here."""
        try:
            wait_until(condition)
        except AssertionError:
            self.skipTest(f"Slurm does not run here: {lack}")

    def daemon(self, *words):
        process = subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.stop_daemon, process)
        return process

    @staticmethod
    def stop_daemon(process):
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60).stdout

    def test_a_node_that_is_lost_costs_nothing(self):
        process = self.start("slurm")
        self.wait_for_slurm(self.held_run, "no job was started")
        run = self.held_run()
        jobs = dict(line.split() for line in self.ask("squeue", "-h", "-r", "-t", "R", "-o", "%K %N").splitlines())
        node = jobs["2"]
        # Its daemon, the one of the job, and what that runs.
        self.nodes[node].kill()
        above = parent_of(run)
        while above > 1 and not words_of(above)[0].startswith(b"slurmstepd"):
            above = parent_of(above)
        self.assertGreater(above, 1)
        self.release()
        os.kill(above, signal.SIGKILL)
        os.kill(run, signal.SIGKILL)
        self.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")
        self.wait_for_slurm(lambda: process.poll() is not None or "R" in self.ask("squeue", "-h", "-r", "-o", "%t").split(),
                            "the job of a lost node was not run again")
        said = self.end(process)
        self.assertIn(b"25 inputs: 25 done (25 of an earlier run", said)
        self.compare()
        restarts = [line for line in self.ask("scontrol", "show", "job").splitlines() if "Restarts=1" in line]
        self.assertEqual(len(restarts), 1)


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main(verbosity=2)
