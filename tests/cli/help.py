"""Help, manual pages, completions and what is said of words that are none: each has every command
and option, as the programs show it that read them (bash, zsh, fish, mandoc, man).

usage: help.py COLDTRACE [unittest arguments]
Tests of a shell or reader that is not installed skip.
"""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import case
from cli.terminal import run_on_terminal

COLDTRACE = Path(sys.argv[1]).resolve()


def run(*arguments, program=COLDTRACE, **options):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=120, **options)


@functools.cache
def help_of(*command):
    return run(*command, "--help").stdout.decode()


def tree(*prefix):
    """Every command and group, as the lists of commands in the help name them."""
    found = [prefix]
    listed = re.search(r"\nCommands:\n(.*?)\n\n", help_of(*prefix), re.S)
    for name in re.findall(r"^  ([a-z][a-z0-9-]*)", listed[1], re.M) if listed else []:
        found += tree(*prefix, name)
    return found


def options_of(command):
    """Long names, as the help has them."""
    return set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", help_of(*command), re.M))


def choices_of(command):
    """{option: its values} of those whose values the help lists in braces."""
    return {name: values.split(",") for name, values in
            re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+) \{([^}]+)\}", help_of(*command), re.M)}


def texts_of(command):
    """{option: what the help says of it}, without notes such as [repeatable] and [default: 5]."""
    section = re.sub(r"\n(Usage|Examples|Exit status|Commands|Arguments):.*?(?=\n\n|\Z)", "",
                     help_of(*command).split("\nExamples:\n")[0], flags=re.S)
    found = re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)(.*(?:\n {10,}.*)*)", section, re.M)
    return {name: re.sub(r" \[[^\]]*\]", "", " ".join(re.sub(r"^ (\{[^}]*\}|\S+)", "", rest).split()))
            for name, rest in found}


# Options of one name that commands describe in words of their own, and why. Of all others the text
# is the same wherever they stand.
OWN_WORDS = {
    "--dir": "the folders of images, of DLLs in their order, or of builds",
    "--fields": "members of events, or of files",
    "--format": "what a terminal gets",
    "--from": "of a path it is where that may begin",
    "--function": "names alone, or also places in a kernel",
    "--image": "of a trace any number, of a PDB one; what is checked (with --dump)",
    "--input": "of a batch any number, and folders; of a call its buffer",
    "--journal": "of a query no other formats lack it",
    "--key-file": "of traces it is also the key of what a driver encrypted",
    "--layout": "of FILE, or of its dump",
    "--list": "of places, or of inputs",
    "--limit": "events, or rows of each volume",
    "--no-hash": "with the checksum where that is computed too",
    "--ntdll": "names services, or is what is checked or what a made-up trace is of",
    "--of": "an export has more to choose from",
    "--out-dir": "what a batch needs is what other commands may have",
    "--pdb": "where whole folders are searched",
    "--thread": "what follows from one thread alone",
    "--timeout": "of a device that is idle, or of the work on an input",
    "--to": "of a path it is where that may end",
    "--top": "which rows",
    "--unpacked-limit": "traces have compressed buffers too",
    "--where": "an example in the command's own members",
    "--windows": "which version counts without it",
    "--zone-ids": "expressions of a query ask for them without it",
}


class Help(case.Case):
    @classmethod
    def setUpClass(cls):
        cls.commands = tree()
        assert len(cls.commands) > 50, cls.commands

    def needs(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def test_lines_fit_and_hold_every_word(self):
        for command in self.commands:
            whole = help_of(*command)
            until = whole.find("\nExamples:\n")
            for line in whole[:until].split("\n"):
                if not line.startswith("Usage:"):
                    self.assertLessEqual(len(line), 80, (command, line))
            brief = run(*command, "-h").stdout.decode()
            self.assertLessEqual(len(brief), len(whole), command)
            if "\nCommon options:" in whole:
                self.assertLess(len(brief), len(whole) - 300, command)
            self.assertNotIn("\nExit status:", brief)
            self.assertEqual(run("help", *command).stdout.decode(), whole)

    def test_an_option_means_the_same_everywhere(self):
        texts = {}
        for command in self.commands:
            for name, text in texts_of(command).items():
                texts.setdefault(name, {}).setdefault(text, []).append(" ".join(command))
        self.assertGreater(len(texts), 100)
        self.assertGreater(len(sum(texts["--quiet"].values(), [])), 50)
        several = {name: found for name, found in texts.items() if len(found) > 1}
        self.assertEqual(sorted(several), sorted(OWN_WORDS), several)

    def test_a_terminal_has_lines_of_its_width(self):
        def shown(columns):
            text, done = run_on_terminal([COLDTRACE, "trace", "decode", "--help"], columns)
            self.assertEqual(done.returncode, 0)
            return text.split("\nExamples:\n")[0]

        narrow, wide = shown(66), shown(150)
        self.assertEqual(narrow.split(), wide.split())
        longest = [max(len(line) for line in text.split("\n") if not line.startswith("Usage"))
                   for text in (narrow, wide)]
        self.assertLessEqual(longest[0], 66)
        self.assertTrue(120 < longest[1] <= 150, longest)

    def test_a_word_that_is_none_is_named_with_the_nearest(self):
        """Two letters swapped, in each command and each option of two commands."""
        def swapped(word):
            middle = len(word) // 2
            return word[:middle - 1] + word[middle] + word[middle - 1] + word[middle + 1:]
        tried = 0
        for command in self.commands:
            wrong = swapped(command[-1]) if command and len(command[-1]) > 3 else ""
            if not wrong or wrong == command[-1]:
                continue
            done = run(*command[:-1], wrong)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertRegex(done.stderr.decode(), rf"'{wrong}' is no command of '[a-z]+'; did you mean '")
            self.assertIn(f"did you mean '{command[-1]}'".encode(), done.stderr)
            tried += 1
        self.assertGreater(tried, 40)
        for command in (("pe", "info"), ("trace", "decode")):
            for option in sorted(options_of(command)):
                wrong = "--" + swapped(option[2:])
                for form in (wrong, wrong + "=1"):
                    done = run(*command, "x", form)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(f"'{wrong}' is no option of 'coldtrace {' '.join(command)}'; "
                                  f"did you mean '{option}'".encode(), done.stderr)

    def test_a_value_that_is_none_is_named_with_the_nearest(self):
        done = run("pe", "info", "--format", "jsno", "x")
        self.assertIn(b"'jsno' is none of text, json, csv; did you mean 'json'?", done.stderr)
        done = run("pe", "info", "--fail-on", "alias-splt", "x")
        self.assertIn(b"did you mean 'alias-split'?", done.stderr)
        for odd in ("\x1b[31m", "x\ny", "--\x1b]0;"):
            self.assertNotIn(odd.encode(), run(odd).stderr)
            self.assertNotIn(odd.encode(), run("pe", "info", odd).stderr)

    def test_groups_and_the_program_alone_list_their_commands(self):
        for group in ((), ("pe",), ("trace", "control")):
            done = run(*group)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertEqual(done.stderr, run(*group, "-h").stdout)

    def test_version_has_a_short_name(self):
        self.assertEqual(run("-V").stdout, run("--version").stdout)

    def test_help_of_what_is_no_command(self):
        done = run("help", "trace", "decod")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"'decod' is no command of 'coldtrace trace'; did you mean 'decode'?", done.stderr)
        self.assertEqual(run("help", "pe", "info", "more").returncode, 2)

    # Manual pages.

    def test_manual_pages_are_sound_and_have_all_options(self):
        self.needs("mandoc")
        for command in self.commands:
            page = self.write("page.1", run("help", "--man", *command).stdout)
            done = run("-T", "lint", "-W", "warning", page, program="mandoc")
            odd = [line for line in done.stdout.splitlines() if b"missing date" not in line]
            self.assertEqual(odd, [], command)
            text = run("-T", "utf8", "-O", "width=200", page, program="mandoc").stdout.decode()
            text = re.sub(".\b", "", text)
            shown = set(re.findall(r"(?<![\w-])(--[a-z0-9-]+)", text))
            self.assertLessEqual(options_of(command), shown, command)
            for line in re.findall(r"^  (coldtrace .*)$", help_of(*command).split("\nExamples:\n")[-1], re.M):
                self.assertIn(line, text)

    # Completions, as the shells answer.

    def bash(self, *lines):
        """What bash offers for each line."""
        self.needs("bash")
        script = self.write("coldtrace.bash", run("help", "--completion", "bash").stdout)
        ask = """
        source "$1"; shift
        for line; do
          # As readline does: '=' is a word of its own.
          read -ra words <<<"${line//=/ = }"
          [[ $line == *' ' ]] && words+=('')
          COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMPREPLY=()
          _coldtrace
          echo "${COMPREPLY[*]}"
        done
        """
        done = subprocess.run(["bash", "--norc", "-c", ask, "bash", script, *lines], cwd=self.here,
                              capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [set(line.split()) for line in done.stdout.decode().split("\n")[:-1]]

    def below(self, command):
        return {each[-1] for each in self.commands if each and each[:-1] == command}

    def test_bash_completes_commands_options_and_values(self):
        lines = [" ".join(("coldtrace", *command)) for command in self.commands]
        for command, offered in zip(self.commands, self.bash(*(f"{line} --" for line in lines)),
                                    strict=True):
            self.assertEqual(offered, options_of(command), command)
        groups = [command for command in self.commands if self.below(command)]
        for command, offered in zip(groups, self.bash(*(f"{' '.join(('coldtrace', *command))} "
                                                        for command in groups)), strict=True):
            self.assertEqual(offered, self.below(command), command)
        values = [(command, option, choices) for command in self.commands
                  for option, choices in choices_of(command).items()]
        self.assertGreater(len(values), 60)
        for form in "coldtrace {} {} ", "coldtrace {} {}=":
            answers = self.bash(*(form.format(" ".join(command), option)
                                  for command, option, _ in values))
            for (command, option, choices), offered in zip(values, answers, strict=True):
                self.assertEqual(offered, set(choices), (command, option))

    def test_bash_completes_files_and_codes(self):
        for name in ("a.dll", "b.etl"):
            self.write(name, b"")
        (self.here / "folder").mkdir()
        files, output, codes, second, first, number, page = self.bash(
            "coldtrace pe info ", "coldtrace pe info -o ", "coldtrace pe info --fail-on alias",
            "coldtrace pe info --fail-on arm64x,alias", "coldtrace tr", "coldtrace pe info --jobs ",
            "coldtrace findings arm64x alias")
        self.assertLessEqual({"a.dll", "b.etl", "folder"}, files)
        self.assertEqual(files, output)
        self.assertEqual((codes, second), ({"alias-split"}, {"arm64x,alias-split"}))
        self.assertEqual(page, {"alias-split"})
        self.assertEqual((first, number), ({"trace"}, set()))

    def test_fish_completes_commands_options_and_values(self):
        self.needs("fish")
        script = self.write("coldtrace.fish", run("help", "--completion", "fish").stdout)
        lines = []
        for command in self.commands:
            lines += [" ".join(("coldtrace", *command, "--")), " ".join(("coldtrace", *command, ""))]
        lines += ["coldtrace pe info --format ", "coldtrace pe info --fail-on arm64x,alias",
                  "coldtrace findings alias"]
        ask = "source $argv[1]; for line in $argv[2..]; echo \"#\"; complete -C $line; end"
        done = subprocess.run(["fish", "--no-config", "-c", ask, script, *lines], cwd=self.here,
                              capture_output=True, timeout=120,
                              env={**os.environ, "HOME": str(self.here)})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        answers = [{line.split("\t")[0] for line in block.split("\n") if line}
                   for block in done.stdout.decode().split("#\n")[1:]]
        self.assertEqual(len(answers), len(lines))
        for index, command in enumerate(self.commands):
            self.assertEqual({name for name in answers[2 * index] if name.startswith("--")},
                             options_of(command), command)
            if self.below(command):
                self.assertEqual(answers[2 * index + 1], self.below(command), command)
        self.assertEqual(answers[-3], {"text", "json", "csv"})
        self.assertEqual(answers[-2:], [{"arm64x,alias-split"}, {"alias-split"}])

    def test_zsh_reads_its_script(self):
        """What it offers needs a terminal: _arguments is asked for what it was told instead."""
        self.needs("zsh")
        script = self.write("_coldtrace", run("help", "--completion", "zsh").stdout)
        done = run("-n", script, program="zsh")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        ask = """
        compdef() { }
        _describe() { print -r -- "commands ${(P)2}" }
        _arguments() { print -rl -- "$@" }
        source $1
        for name in ${@:2}; do print "# $name"; state=command; $name; done
        """
        names = ["_" + "_".join(("coldtrace", *command)) for command in self.commands]
        done = subprocess.run(["zsh", "-f", "-c", ask, "zsh", script, *names], capture_output=True,
                              timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        blocks = re.split(r"^# _coldtrace\w*[\w-]*\n", done.stdout.decode(), flags=re.M)[1:]
        self.assertEqual(len(blocks), len(names))
        for command, block in zip(self.commands, blocks):
            self.assertEqual(set(re.findall(r"^\*?(--[a-z0-9-]+)", block, re.M)),
                             options_of(command), command)
            for option, choices in choices_of(command).items():
                self.assertRegex(block, rf"(?m)^\*?{option}=.*:\({' '.join(choices)}\)$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
