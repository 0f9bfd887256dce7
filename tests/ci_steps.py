"""The shell steps of ci/, run as GitHub's and GitLab's runners run them."""
import os
import re
import subprocess

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
        """Its steps one after the other, as a runner expands them; those that use others are left out. What ended
        them, their outputs and the summary."""
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown, unknown
        values = {name: inputs.get(name, one["default"]) for name, one in self.action["inputs"].items()}
        files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        done = None
        for step in self.action["runs"]["steps"]:
            if "uses" in step:
                continue
            assert step["shell"] == "bash" and "${{" not in step["run"]
            expand = lambda text: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: values[m[1]], text)
            done = self.bash(folder, step["run"], {name: expand(text) for name, text in step.get("env", {}).items()}
                             | {"GITHUB_ACTION_PATH": str(self.project / "ci/github")}
                             | {name: str(file) for name, file in files.items()})
            if done.returncode != 0:
                break
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return done, outputs, files["GITHUB_STEP_SUMMARY"].read_text()

    def run_job(self, folder, variables):
        unknown = set(variables) - set(self.job["variables"])
        assert not unknown, unknown
        return self.bash(folder, "\n".join(self.job["script"]), self.job["variables"] | variables)
