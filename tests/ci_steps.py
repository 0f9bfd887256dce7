"""The shell steps of ci/, run as GitHub's and GitLab's runners run them."""
import json
import os
import re
import subprocess
from pathlib import Path

import yaml


class Steps:
    def __init__(self, project):
        self.project = project
        self.action = yaml.safe_load((project / "ci/github/action.yml").read_text())
        self.job = yaml.safe_load((project / "ci/gitlab/coldtrace.yml").read_text())[".coldtrace"]

    @staticmethod
    def bash(folder, script, variables):
        """As GitHub has it for `shell: bash`."""
        (folder / "step.sh").write_text(script)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", folder / "step.sh"],
                              cwd=folder, env=kept | variables, capture_output=True, timeout=120)

    def run_action(self, folder, inputs):
        """Its steps one after the other, as a runner expands them; those that use others are left out, and behind one
        that failed all but those which always run. What the step of coldtrace ended as, its outputs and the summary;
        `matchers` are the owners whose problem matchers watched that step, and `left` those that watch the rest of the job."""
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown, unknown
        values = {name: inputs.get(name, one["default"]) for name, one in self.action["inputs"].items()}
        files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        failed, ended, owners = False, None, set()
        for step in self.action["runs"]["steps"]:
            if "uses" in step or failed and step.get("if") != "${{ always() }}":
                continue
            assert step["shell"] == "bash" and "${{" not in step["run"]
            expand = lambda text: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: values[m[1]], text)
            done = self.bash(folder, step["run"], {name: expand(text) for name, text in step.get("env", {}).items()}
                             | {"GITHUB_ACTION_PATH": str(self.project / "ci/github")}
                             | {name: str(file) for name, file in files.items()})
            failed = failed or done.returncode != 0
            if step.get("id") == "coldtrace":
                ended, self.matchers = done, set(owners)
            for command, told in re.findall(r"^::(add|remove)-matcher(?:::| owner=)(.*?)(?:::)?$", done.stdout.decode(), re.M):
                if command == "add":
                    owners |= {one["owner"] for one in json.loads(Path(told).read_text())["problemMatcher"]}
                else:
                    owners.discard(told)
        self.left = owners
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return ended, outputs, files["GITHUB_STEP_SUMMARY"].read_text()

    def run_job(self, folder, variables):
        unknown = set(variables) - set(self.job["variables"])
        assert not unknown, unknown
        return self.bash(folder, "\n".join(self.job["script"]), self.job["variables"] | variables)
