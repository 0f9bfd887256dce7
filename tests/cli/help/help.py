"""Help, manual pages, completions and what is said of words that are none: each has every command
and option, as the programs show it that read them (bash, zsh, fish, mandoc, man).

usage: help.py COLDTRACE [unittest arguments]
Tests of a shell or reader that is not installed skip.
"""
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.output.terminal import run_on_terminal

COLDTRACE = Path(sys.argv[1]).resolve()
SOURCES = Path(__file__).resolve().parents[3]
os.environ.pop("COLUMNS", None)  # help in a pipe is as wide as that


def run(*arguments, program=COLDTRACE, **options):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=120, **options)


PROGRAM = case.Program(COLDTRACE)
help_of, tree = PROGRAM.help_of, PROGRAM.tree


def options_of(command):
    """Long names, as the help has them."""
    return set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", help_of(*command), re.M))


def choices_of(command):
    """{option: its values} of those whose values the help lists in braces."""
    return {name: values.split(",") for name, values in
            re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+) \{([^}]+)\}", help_of(*command), re.M)}


def texts_of(command):
    """{option: its value and what the help says of it}, without notes such as [repeatable] and [default: 5]."""
    section = re.sub(r"\n(Usage|Examples|Exit status|Commands|Arguments):.*?(?=\n\n|\Z)", "",
                     help_of(*command).split("\nExamples:\n")[0], flags=re.S)
    found = re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)(.*(?:\n {10,}.*)*)", section, re.M)
    return {name: re.sub(r" \[[^\]]*\](?!\S)", "", " ".join(rest.split())) for name, rest in found}


EXAMPLES = r"\nExamples:\n(.*?)(?=\nExit status:\n|\Z)"


def without_examples(text):
    return re.sub(EXAMPLES, "", text, flags=re.S)


def examples_of(text):
    """The lines as a shell reads them."""
    found = re.search(EXAMPLES, text, re.S)
    return [" ".join(shlex.split(line)) for line in re.sub(r"\\\n", "", found[1] if found else "").splitlines()]


# Options of one name that commands describe in words of their own, or whose values differ, and why: each
# means the same for all that. Of all others value and text are the same wherever they stand.
OWN_WORDS = {
    "--dir": "the folders of images, of DLLs in their order, or of builds",
    "--fields": "members of events, or of files",
    "--format": "what a terminal gets",
    "--from": "of a path it is where that may begin",
    "--function": "names alone, or also places in a kernel",
    "--jobs": "threads, or inputs that a batch reads at a time",
    "--journal": "of a query no other formats lack it",
    "--limit": "events, or rows of each volume",
    "--no-hash": "with the checksum where that is computed too",
    "--ntdll": "names services, or is what is checked or what a made-up trace is of",
    "--of": "an export has more to choose from",
    "--out-dir": "what a batch needs is what other commands may have",
    "--pdb": "where whole folders are searched",
    "--pe": "of a trace any number, of a PDB one, of a check the module whose dump is compared",
    "--sort": "members of files, or what kinds of events have",
    "--thread": "what follows from one thread alone",
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
            for line in whole.split("\n"):
                self.assertLessEqual(len(line), 80, (command, line))
            brief = run(*command, "-h").stdout.decode()
            self.assertLessEqual(len(brief), len(whole), command)
            if "\nCommon options:" in whole:
                self.assertLess(len(brief), len(whole) - 300, command)
            # Each option is there, with the beginning of what is said of it.
            own = re.sub(r"\nCommon options:.*?(?=\n\n|\Z)", "", whole, flags=re.S)
            pattern = r"^  ((?:-\w,)?--[a-z0-9-]+.*?)(?=\n  \S|\n\S|\n\n|\Z)"
            said, short = ([" ".join(found.split()) for found in re.findall(pattern, without_examples(text), re.M | re.S)]
                           for text in (own, brief))
            self.assertEqual(len(said), len(short), command)
            for full, first in zip(said, short):
                first = re.sub(r" \[(default|required|one of).*", "", first)
                self.assertTrue(full.startswith(first), (full, first))
                self.assertRegex(full[len(first):], r"\A(\Z|; |\. |: | \[)")
            self.assertNotIn("\nExit status:", brief)
            self.assertEqual(run("help", *command).stdout.decode(), whole)

    def test_a_folder_for_results_is_a_folder_everywhere(self):
        """The options that a command lacks leave nothing of theirs to the next one."""
        folders = {command: found["--out-dir"].split()[0] for command in self.commands
                   if "--out-dir" in (found := texts_of(command))}
        self.assertGreater(len(folders), 20)
        self.assertEqual(set(folders.values()), {"DIR"}, folders)
        completion = run("help", "--completion", "bash").stdout.decode()
        self.assertNotRegex(completion, r"--out-dir\) given=1 values='[^']")

    def test_an_option_means_the_same_everywhere(self):
        texts = {}
        for command in self.commands:
            for name, text in texts_of(command).items():
                texts.setdefault(name, {}).setdefault(text, []).append(" ".join(command))
        self.assertGreater(len(texts), 100)
        self.assertGreater(len(sum(texts["--quiet"].values(), [])), 50)
        several = {name: found for name, found in texts.items() if len(found) > 1}
        self.assertEqual(sorted(several), sorted(OWN_WORDS), several)

    def test_the_opposite_of_an_option_is_no_other_option(self):
        names = {name for command in self.commands for name in options_of(command)}
        opposites = {name for name in names if name.startswith("--no-")}
        self.assertGreater(len(opposites), 2)
        self.assertEqual({"--" + name[5:] for name in opposites} & names, set())

    def test_arguments_are_spelled_alike(self):
        """As docs/commands/common-options.md says, and so in every document."""
        inputs = {"FILE", "IMAGE", "TABLE", "PROFILE", "DUMP", "BEFORE", "AFTER"}
        others = {"CODE", "COMMAND", "NAME", "PATH", "PLACE", "PROVIDER", "SCENARIO"}
        words = {}
        for command in self.commands:
            if PROGRAM.below(*command):
                continue
            text = help_of(*command)
            usage = re.search(r"^Usage: .*?\[OPTIONS\](.*(?:\n {3,}.*)*)", text, re.M)[1]
            arguments = [re.sub(r"[\[\].]", "", word) for word in usage.split()]
            self.assertLessEqual(set(arguments), inputs | others, command)
            kinds = {name: kind for name, kind in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+) ([A-Z|]+)\b", text, re.M)}
            self.assertEqual([name for name, kind in kinds.items()
                              if re.search(r"FILE|DIR", kind) and kind not in ("FILE", "DIR", "FILE|DIR", "NAME|FILE")], [], command)
            words[" ".join(command)] = {*arguments, *(part for kind in kinds.values() for part in kind.split("|"))}
        hives = {"SYSTEM", "SOFTWARE"}  # names of files
        shown = 0
        for document in (SOURCES / "README.md", *(SOURCES / "docs").rglob("*.md")):
            for line in re.findall(r"(?:`|^)coldtrace ([^`\n]*)", document.read_text(), re.M):
                command = max((name for name in words if line.startswith(name + " ")), key=len, default=None)
                if command is None:
                    continue
                said = set(re.findall(r"(?<![\w$.%/=<'*\"-])[A-Z][A-Z0-9]+(?!\w|\.\w)", line)) - hives
                self.assertLessEqual(said, words[command] | {"OPTIONS"}, (document.name, line))
                shown += len(said)
        self.assertGreater(shown, 80)

    def test_a_terminal_has_lines_of_its_width(self):
        def shown(columns):
            text, done = run_on_terminal([COLDTRACE, "trace", "decode", "--help"], columns)
            self.assertEqual(done.returncode, 0)
            return without_examples(text)

        for line in shown(40).split("\n"):
            self.assertTrue(len(line) <= 40 or len(line.split()) <= 2, line)
        narrow, wide = shown(66), shown(150)
        self.assertEqual(narrow.split(), wide.split())
        longest = [max(len(line) for line in text.split("\n") if not line.startswith("Usage"))
                   for text in (narrow, wide)]
        self.assertLessEqual(longest[0], 66)
        self.assertTrue(120 < longest[1] <= 150, longest)

    def test_examples_that_are_longer_go_on_below(self):
        longer = 0
        for command in self.commands:
            wide, _ = run_on_terminal([COLDTRACE, *command, "--help"], 200)
            for columns in 80, 60, 40:
                text, _ = run_on_terminal([COLDTRACE, *command, "--help"], columns)
                self.assertEqual(examples_of(text), examples_of(wide))
                for line in re.search(EXAMPLES, text, re.S)[1].splitlines() if examples_of(text) else ():
                    self.assertTrue(len(line) <= columns or columns < 80 and len(shlex.split(line.rstrip("\\"))) <= 4, line)
                    longer += line.endswith("\\")
        self.assertGreater(longer, 50)

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
            group = " ".join(("coldtrace", *command[:-1]))
            self.assertIn(f"'{wrong}' is not a command of '{group}'; did you mean '{command[-1]}'?", done.stderr.decode())
            tried += 1
        self.assertGreater(tried, 40)
        for command in (("pe", "info"), ("trace", "decode")):
            for option in sorted(options_of(command)):
                wrong = "--" + swapped(option[2:])
                for form in (wrong, wrong + "=1"):
                    done = run(*command, "x", form)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(f"'{wrong}' is not an option of 'coldtrace {' '.join(command)}'; "
                                  f"did you mean '{option}'".encode(), done.stderr)

    def test_a_word_or_letter_that_an_option_has_is_named_with_it(self):
        for words, said in ((["version"], "'version' is not a command of 'coldtrace'; did you mean '--version'?"),
                            (["-v"], "'-v' is not an option of 'coldtrace'; did you mean '-V'?"),
                            (["pe", "help"], "'help' is not a command of 'coldtrace pe'; did you mean '--help'?"),
                            (["pe", "info", "-Q", "x"], "'-Q' is not an option of 'coldtrace pe info'; did you mean '-q'?"),
                            (["-x"], "'-x' is not an option of 'coldtrace'")):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertEqual(done.stderr.decode().splitlines()[0], f"coldtrace: {said}")

    def test_a_value_that_is_none_is_named_with_the_nearest(self):
        done = run("pe", "info", "--format", "jsno", "x")
        self.assertIn(b"'jsno' is not one of text, json, csv; did you mean 'json'?", done.stderr)
        done = run("pe", "info", "--fail-on", "alias-splt", "x")
        self.assertIn(b"did you mean 'alias-split'?", done.stderr)
        for odd in ("\x1b[31m", "x\ny", "--\x1b]0;"):
            self.assertNotIn(odd.encode(), run(odd).stderr)
            self.assertNotIn(odd.encode(), run("pe", "info", odd).stderr)

    def test_a_command_of_a_group_is_named_with_the_group(self):
        groups = {}
        for command in self.commands:
            if len(command) > 1 and (command[-1],) not in self.commands:
                groups.setdefault(command[-1], []).append(f"'{' '.join(command)}'")
        self.assertGreater(len(groups), 40)
        self.assertEqual(groups["decode"], ["'trace decode'", "'trace control decode'"])
        for name, full in groups.items():
            for words in ((name, "x"), ("help", name)):
                done = run(*words)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                told = re.search(r"'(.*?)' is not a command of 'coldtrace'; did you mean (.*)\?\n", done.stderr.decode())
                self.assertEqual((told[1], sorted(re.split(", | or ", told[2]))), (name, sorted(full)))
        self.assertIn(b"did you mean 'ntfs snapshot'?", run("snapshto", "x").stderr)

    def test_options_before_their_command_and_without_a_value(self):
        def told(*words):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            return done.stderr.decode().splitlines()[0].removeprefix("coldtrace: ")
        for words in (("pe", "--format", "json", "info", "x"), ("--format=json", "pe", "info", "x"),
                      ("--no-sandbox", "pe", "--format", "json", "info")):
            self.assertEqual(told(*words), "'--format' belongs after 'pe info'")
        self.assertEqual(told("pe", "--formta", "info", "x"),
                         "'--formta' is not an option of 'coldtrace pe info'; did you mean '--format'?")
        self.assertEqual(told("pe", "info", "x", "--format"), "--format needs a value: text, json, csv")
        self.assertEqual(told("pe", "info", "x", "-j"), "--jobs needs a value: N")
        self.assertEqual(told("pe", "info", "x", "-o"), "--output needs a value: FILE")

    def test_arguments_that_no_command_takes(self):
        for words, said in (
                (["pe", "info", ""], "FILE: an empty argument names no file"),
                (["ntfs", "compare", "a", ""], "AFTER: an empty argument names no file"),
                (["hooks", "table", "--kernel", ""], "--kernel: an empty argument names no file"),
                (["pe", "info", "--jobs", "100000", "x"], "--jobs: '100000' is not a number from 0 to 256"),
                (["pe", "types", "--depth", "33", "x"], "--depth: '33' is not a number from 0 to 32"),
                (["trace", "schemas", "list", "x"],
                 "'x' is one argument too many for 'coldtrace trace schemas list'; --schemas FILE|DIR names files that declare events"),
                (["trace", "schemas", "show", "Provider", "x"],
                 "'x' is one argument too many for 'coldtrace trace schemas show'; --schemas FILE|DIR names")):
            with self.subTest(words=words):
                done = run(*words)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr.decode().splitlines()[0].find(f"coldtrace: {said}"), 0, done.stderr)

    def test_options_that_were_renamed(self):
        for command, before, now in ((("trace", "decode"), "--pid", "--process"), (("trace", "decode"), "--tid", "--thread"),
                                     (("trace", "tree"), "--threads", "--max-threads"),
                                     (("ntfs", "journal"), "--stream", "--copied"),
                                     (("trace", "control", "list"), "--version", "--windows"),
                                     (("batch",), "--pack", "--compression"),
                                     (("batch",), "--hash", "--compare-contents"),
                                     (("trace", "export", "perfetto"), "--compress", "--compress-packets"),
                                     (("trace", "services"), "--since", "--compare-from")):
            done = run(*command, "x", before, "4")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"'{before}' is not an option of 'coldtrace {' '.join(command)}'; {before} is now {now}\n",
                          done.stderr.decode())
            self.assertIn(now, options_of(command))

    def test_names_in_values_are_named_with_the_nearest(self):
        done = run("hooks", "table", "--kernel", "x", "--members", "edrr")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"'edrr' is neither a file nor a built-in list; did you mean 'edr'?", done.stderr)
        done = run("ntfs", "query", "x", "--sort", "size:dsc")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--sort: 'dsc' is not a sort order; 'size:desc' sorts the other way round", done.stderr)

    def test_groups_and_the_program_alone_list_their_commands(self):
        for group in ((), ("pe",), ("trace", "control")):
            done = run(*group)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertEqual(done.stderr, run(*group, "-h").stdout)

    def test_what_is_missing_is_told_with_where_to_read_more(self):
        told = 0
        for command in PROGRAM.commands():
            done = run(*command, stdin=subprocess.DEVNULL)
            if done.returncode:
                hint = f"Run 'coldtrace {' '.join(command)} --help' for more information."
                self.assertEqual((done.returncode, done.stdout), (2, b""), command)
                self.assertRegex(done.stderr.decode(), r"\Acoldtrace: .+\n" + re.escape(hint) + r"\n\Z")
                told += 1
        self.assertGreater(told, 60)

    def test_version_has_a_short_name(self):
        self.assertEqual(run("-V").stdout, run("--version").stdout)

    def test_help_of_what_is_no_command(self):
        done = run("help", "trace", "decod")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"'decod' is not a command of 'coldtrace trace'; did you mean 'decode'?", done.stderr)
        self.assertEqual(run("help", "pe", "info", "more").returncode, 2)

    # Manual pages.

    def test_manual_pages_are_sound_and_have_all_options(self):
        self.needs("mandoc")
        dated = b"commit unknown" not in run("--version").stdout  # the day is that of the commit
        for command in self.commands:
            page = self.write("page.1", run("help", "--man", *command).stdout)
            done = run("-T", "lint", "-W", "warning", page, program="mandoc")
            odd = [line for line in done.stdout.splitlines() if dated or b"missing date" not in line]
            self.assertEqual(odd, [], command)
            headings = re.findall(r"^\.SH (.*)$", page.read_text(), re.M)
            self.assertEqual(len(headings), len(set(headings)), (command, headings))
            text = run("-T", "utf8", "-O", "width=200", page, program="mandoc").stdout.decode()
            text = re.sub(".\b", "", text)
            shown = set(re.findall(r"(?<![\w-])(--[a-z0-9-]+)", text))
            self.assertLessEqual(options_of(command), shown, command)
            joined = re.sub(r" \\\n +", " ", text)
            for line in examples_of(help_of(*command)):
                self.assertIn(re.sub("['\"]", "", line), re.sub("['\"]", "", joined))

    def test_the_manual_page_of_the_program_has_its_exits_and_what_it_reads_of_the_environment(self):
        """All that its sources name where they ask for variables."""
        page = run("help", "--man").stdout.decode()
        sections = dict(re.findall(r"^\.SH (EXIT STATUS|ENVIRONMENT)\n(.*?)(?=^\.SH |\Z)", page, re.M | re.S))
        self.assertEqual(re.findall(r"^\\fB(\d)\\fR$", sections["EXIT STATUS"], re.M), ["0", "1", "2"])
        shown = {name for names in re.findall(r"^\\fB([A-Z_, ]+)\\fR$", sections["ENVIRONMENT"], re.M)
                 for name in names.split(", ")}
        asked = set()
        for path in (path for folder in SOURCES.iterdir() if (folder / "CMakeLists.txt").exists() and
                     folder.name not in ("bench", "build", "examples", "fixtures", "fuzz", "python", "tests")
                     for path in folder.rglob("*.cpp")):
            text = path.read_text()
            if "getenv(" in text:
                asked |= set(re.findall(r'"([A-Z][A-Z_]+)"', text))
            asked |= set(re.findall(r'\bsetenv\("([A-Z]+)"', text))
        self.assertLess({"COLUMNS", "NO_COLOR", "TMPDIR"}, asked)
        self.assertEqual(shown, asked - {"FRSX", "POSIX", "UTC"})  # values
        document = (SOURCES / "docs/commands/common-options.md").read_text()
        (named,) = re.findall(r"^Only locations and appearance come from the environment: (.*?)\.$", document, re.M | re.S)
        self.assertEqual(set(re.findall(r"`([A-Z_]+)`", named)), shown)

    def test_manual_pages_are_no_wider_than_the_terminal(self):
        self.needs("man")
        # All in one file: for each page alone man starts nine programs.
        pages = self.write("pages.1", b"".join(run("help", "--man", *command).stdout for command in self.commands))
        for columns in 60, 80:
            done = subprocess.run(["man", "-E", "UTF-8", "-l", pages], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "MANWIDTH": str(columns)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            texts = re.split(r"^NAME$", re.sub(".\b", "", done.stdout), flags=re.M)[1:]
            for command, text in zip(self.commands, texts, strict=True):
                self.assertIn(f"       {'-'.join(('coldtrace', *command))} ", text)
                # An option and its value stay together.
                self.assertEqual([line for line in text.splitlines() if len(line) > columns and
                                  (columns == 80 or len(shlex.split(line.rstrip("\\"))) > 4)], [], command)
                joined = re.sub(r" \\\n +", " ", text)
                for line in examples_of(help_of(*command)):
                    self.assertIn("         " + re.sub("['\"]", "", line), re.sub("['\"]", "", joined))

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
        self.write("c.PDB.gz", b"")
        files, traces, types, none, output, codes, second, first, number, page = self.bash(
            "coldtrace pe info ", "coldtrace trace decode ", "coldtrace pe types ", "coldtrace hooks show ",
            "coldtrace pe info -o ", "coldtrace pe info --fail-on alias",
            "coldtrace pe info --fail-on arm64x,alias", "coldtrace tr", "coldtrace pe info --jobs ",
            "coldtrace findings arm64x alias")
        self.assertEqual((files, traces, types), ({"a.dll", "folder"}, {"b.etl", "folder"}, {"c.PDB.gz", "folder"}))
        self.assertLessEqual({"a.dll", "b.etl", "c.PDB.gz", "folder"}, output)
        self.assertEqual(none, output, "where no name fits all are offered")
        self.assertEqual((codes, second), ({"alias-split"}, {"arm64x,alias-split"}))
        self.assertEqual(page, {"alias-split"})
        self.assertEqual((first, number), ({"trace"}, set()))
        self.write("-b.dll", b"")
        self.assertEqual(self.bash("coldtrace pe info a.dll -- -", "coldtrace pe info -- -b", "coldtrace pe info -b"),
                         [{"-b.dll"}, {"-b.dll"}, set()])

    def test_bash_completes_names_with_any_character(self):
        """As readline has it: what the program gets of a line, with one key pressed for the rest."""
        self.needs("bash")
        script = self.write("coldtrace.bash", run("help", "--completion", "bash").stdout)
        got = self.here / "got"
        names = ("my file.dll", "new\nline.dll", "qu'ote.dll", "$dollar.dll", "back\\slash.dll", "two  blanks\n.dll")
        for name in names:
            self.write(name, b"")
        (self.here / "a folder").mkdir()
        self.write("a folder/in side.dll", b"")
        start = f"bind 'set enable-bracketed-paste off'; source '{script}'; " \
            f"coldtrace() {{ printf '%s\\0' \"$@\" >>'{got}'; }}\n"
        lines = ["my\\ f", '"my f', "'my f", "ne", "qu", "\\$d", "'$d", "back", "two", "a\\ folder/in",
                 "$HOME/my", "${HOME}/my\\ f", '"$HOME/my', '"${HOME}/a folder/in', "$HOME/\\$d", "~/my", '"~/my', "\\$HOME/my"]
        keys = start + "".join(f"coldtrace pe info {line}\t\n" for line in lines) + "exit\n"
        run_on_terminal(["bash", "--norc", "--noprofile", "-i"], 80, os.environ | {"TERM": "dumb", "HISTFILE": "", "HOME": str(self.here)},
                        keys=keys.encode(), folder=self.here)
        words = got.read_bytes().decode().split("\0")[:-1]
        expected = ["my file.dll"] * 3 + ["new\nline.dll", "qu'ote.dll"] + ["$dollar.dll"] * 2 + [
            "back\\slash.dll", "two  blanks\n.dll", "a folder/in side.dll"] + [f"{self.here}/{name}" for name in (
                *["my file.dll"] * 3, "a folder/in side.dll", "$dollar.dll", *["my file.dll"] * 2)] + ["$HOME/my"]
        self.assertEqual(words, [word for name in expected for word in ("pe", "info", name)])

    # What is offered by a shell for lines, each with the word that is completed.
    LINES = (("coldtrace trace synthesize deadlock-", {"deadlock-2", "deadlock-5"}),
             ("coldtrace trace control explain EtwStart", {"EtwStartLoggerCode"}),
             ("coldtrace help tra", {"trace"}), ("coldtrace help --man trace dec", {"decode"}),
             ("coldtrace --no-sandbox trace dec", {"decode"}),
             ("coldtrace ntfs snapshot --fields path,rec", {"path,record", "path,record_offset"}),
             ("coldtrace ntfs snapshot --state deleted,st", {"deleted,stale"}),
             ("coldtrace batch --out-dir x -- pe inf", {"info"}), ("coldtrace batch --out-dir x -- trac", {"trace"}),
             ("coldtrace trace decode --provider Microsoft-Windows-Kernel-Proc", {
                 "Microsoft-Windows-Kernel-Process", "Microsoft-Windows-Kernel-Processor-Power"}))

    def test_bash_completes_words_of_all_kinds(self):
        for (line, words), offered in zip(self.LINES, self.bash(*(line for line, _ in self.LINES)), strict=True):
            self.assertEqual(offered, words, line)
        options, values = self.bash("coldtrace batch --out-dir x -- pe info --", "coldtrace batch --out-dir x --format ")
        self.assertEqual((options, values), (options_of(("pe", "info")), {"text", "json"}))

    def fish(self, *lines):
        """What fish offers for each line."""
        self.needs("fish")
        script = self.write("coldtrace.fish", run("help", "--completion", "fish").stdout)
        ask = "source $argv[1]; for line in $argv[2..]; echo \"#\"; complete -C $line; end"
        done = subprocess.run(["fish", "--no-config", "-c", ask, script, *lines], cwd=self.here,
                              capture_output=True, timeout=120,
                              env={**os.environ, "HOME": str(self.here)})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [{line.split("\t")[0] for line in block.split("\n") if line}
                for block in done.stdout.decode().split("#\n")[1:]]

    def test_fish_completes_names_with_any_character(self):
        (self.here / "fold er").mkdir()
        for name in ("fold er/a b.etl", "my run.etl", "qu'ote.etl", "back\\slash.etl", "br[a]c*.etl", "$dollar.etl", "fold er/c d.pdb",
                     "-dash.etl"):
            self.write(name, b"")
        inside = {"fold er/a b.etl"}
        expected = {
            "fold\\ er/": inside, '"fold er/': inside, "'fold er/": inside, '"my r': {"my run.etl"}, "my\\ r": {"my run.etl"},
            "~/my": {"~/my run.etl"}, "$HOME/my": {"$HOME/my run.etl"}, '"$HOME/my': {"$HOME/my run.etl"},
            "~/fold\\ er/": {"~/fold er/a b.etl"}, "qu": {"qu'ote.etl"}, "back": {"back\\slash.etl"}, "br": {"br[a]c*.etl"},
            "'$d": {"$dollar.etl"}, "-- -": {"-dash.etl"}, "-- -d": {"-dash.etl"}, "-d": set(),
            "--pdb=fold\\ er/": {"--pdb=fold er/c d.pdb"}, "--pdb fold\\ er/": {"fold er/c d.pdb"}, "-- my": {"my run.etl"}}
        before = "coldtrace trace decode ", "coldtrace batch --out-dir 'a -- b' -- trace decode "
        lines = [start + typed for start in before for typed in expected]
        for line, words, offered in zip(lines, [*expected.values()] * 2, self.fish(*lines), strict=True):
            self.assertEqual(offered, words, line)

    def test_fish_completes_the_command_of_a_batch(self):
        options = ("ntfs", "snapshot"), ("trace", "decode"), ("pe", "info")
        lines = [f"coldtrace batch --input . -- {' '.join(command)} --" for command in options]
        values = ["coldtrace batch --input . -- trace decode --format ", "coldtrace batch --input . -- trace decode --format=",
                  "coldtrace --no-sandbox batch -- pe info --fail-on arm64x,alias", "coldtrace batch --out-dir x -- ",
                  "coldtrace batch --format "]
        *answers, spaced, joined, codes, commands, own = self.fish(*lines, *values)
        for command, answer in zip(options, answers, strict=True):
            self.assertEqual(answer, options_of(command), command)
        formats = set(choices_of(("trace", "decode"))["--format"])
        self.assertEqual((spaced, joined), (formats, {f"--format={word}" for word in formats}))
        self.assertEqual((codes, commands, own), ({"arm64x,alias-split"}, self.below(()), {"text", "json"}))

    def test_fish_completes_commands_options_and_values(self):
        lines = []
        for command in self.commands:
            lines.append(" ".join(("coldtrace", *command, "--")))
        groups = [command for command in self.commands if self.below(command)]
        lines += [" ".join(("coldtrace", *command, "")) for command in groups]
        lines += ["coldtrace pe info --format ", "coldtrace pe info --fail-on arm64x,alias",
                  "coldtrace findings alias"]
        for name in ("a.dll", "b.etl"):
            self.write(name, b"")
        lines += [line for line, _ in self.LINES] + ["coldtrace trace decode ", "coldtrace pe info "]
        answers = self.fish(*lines)
        self.assertEqual(len(answers), len(lines))
        for command, answer in zip(self.commands, answers):
            self.assertEqual({name for name in answer if name.startswith("--")}, options_of(command), command)
        for command, answer in zip(groups, answers[len(self.commands):]):
            self.assertEqual(answer, self.below(command), command)
        self.assertEqual(answers[-2:], [{"b.etl"}, {"a.dll"}])
        more = len(self.commands) + len(groups) + 3
        self.assertEqual(answers[more - 3], {"text", "json", "csv"})
        self.assertEqual(answers[more - 2:more], [{"arm64x,alias-split"}, {"alias-split"}])
        for (line, words), offered in zip(self.LINES, answers[more:-2], strict=True):
            self.assertEqual(offered, words, line)

    def zsh(self, *lines):
        """What zsh offers for each line, at a prompt: matches are written down as they are added."""
        self.needs("zsh")
        offered = self.write("offered", b"")
        script = self.write("_coldtrace", run("help", "--completion", "zsh").stdout)
        self.write("setup", f"""
        autoload -Uz compinit; compinit -D -u
        compadd() {{
          local -a found
          if [[ " ${{@[1,(i)(-|--)]}} " != *" -"[a-zA-Z]#[OAD]" "* ]]; then
            builtin compadd -A found "$@"
            (( $#found )) && print -rl -- $found >>{offered}
          fi
          builtin compadd "$@"
        }}
        source {script}
        print '#' >>{offered}
        """.encode())
        shell, terminal = pty.fork()
        if shell == 0:
            os.chdir(self.here)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "xterm", "HOME": str(self.here)})
        got = b""
        typed = [b"source ./setup"] + [line.encode() + b"\t\x15print '#' >>offered" for line in lines]
        # At each prompt the shell asks the terminal to tell what is pasted.
        for prompt, line in enumerate((*typed, b"exit"), start=1):
            while got.count(b"\x1b[?2004h") < prompt and select.select([terminal], [], [], 60)[0]:
                got += os.read(terminal, 65536)
            os.write(terminal, line + b"\n")
        while select.select([terminal], [], [], 60)[0]:
            try:
                if not os.read(terminal, 65536):
                    break
            except OSError:  # it has ended
                break
        os.close(terminal)
        os.waitpid(shell, 0)
        return [set(block.split()) for block in offered.read_text().split("#\n")[1:-1]]

    def test_zsh_completes_words_of_all_kinds(self):
        for name in ("a.dll", "b.etl", "-b.etl", "ed.txt", "edges"):
            self.write(name, b"")
        files = (("coldtrace trace decode ", {"b.etl", "-b.etl"}), ("coldtrace pe info ", {"a.dll"}),
                 ("coldtrace pe info --format ", {"text", "json", "csv"}))
        files += (("coldtrace trace decode -- -", {"-b.etl"}), ("coldtrace batch --out-dir x -- trace decode -- -", {"-b.etl"}))
        files += tuple((f"coldtrace hooks table --members{between}ed", {"edr", "edrsandblast", "ed.txt", "edges"}) for between in " =")
        # Of a list the last word alone is a match.
        lines = [(line, {word.split(",")[-1] for word in words}) for line, words in (*self.LINES, *files)]
        for (line, words), offered in zip(lines, self.zsh(*(line for line, _ in lines)), strict=True):
            self.assertEqual(offered, words, line)

    def test_zsh_reads_its_script(self):
        """What _arguments is told, of all commands."""
        self.needs("zsh")
        script = self.write("_coldtrace", run("help", "--completion", "zsh").stdout)
        done = run("-n", script, program="zsh")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        ask = """
        compdef() { }
        _describe() { print -r -- "commands ${(P)2}" }
        _arguments() { print -rl -- "$@" }
        source $1
        # 'help' offers its own options before an option, 'batch' before '--'.
        words=(coldtrace -) CURRENT=2
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
                self.assertRegex(block, rf"(?m)^\*?{option}=.*:(\({' '.join(choices)}\)| _values -s , value "
                                        rf"{' '.join(choices)})$")
        self.assertRegex(blocks[self.commands.index(("trace", "decode"))], r"(?m)^\*:argument:_files -g \"\*\.\(#i\)\(etl\|")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
