"""coldtrace hooks plan against the linker's map and another disassembler.

usage: trace_points_test.py COLDTRACE IMAGES SOURCES OBJDUMP CLANG WINE [unittest arguments]
"""
import subprocess
import sys
import unittest

from trace_case import COLDTRACE, LACKING, SAME, WINE, Case, Disassembly, Map, image
from strict import strict_json


class Both(Case):
    def each(self):
        for name in ("trace-points-x64", "trace-points-x86"):
            with self.subTest(name):
                kernel = image(name)
                yield name[-3:], kernel, Map(kernel.with_suffix(".map")).labels

    def test_instructions_are_those_of_the_disassembler(self):
        for machine, kernel, labels in self.each():
            truth = Disassembly(kernel).at
            names = [name for name in labels if name.startswith("at_") and name != "at_undefined"]
            points = self.points(kernel, [hex(labels[name]) for name in names])
            self.assertGreater(len(points), 15)
            for name, point in zip(names, points):
                code, mnemonic = truth[labels[name]]
                instruction = point["instruction"]
                self.assertEqual(instruction["bytes"], code.hex(), name)
                self.assertEqual(instruction["length"], len(code))
                self.assertEqual(instruction["mnemonic"], SAME.get(mnemonic, mnemonic), name)
                self.assertEqual(instruction["emulator"] == "known",
                                 name == "at_movzx" and machine == "x64", name)
                data = kernel.read_bytes()
                self.assertEqual(data[point["file_offset"]:][:len(code)], code)

    def test_what_must_be_emulated_is_told(self):
        for machine, kernel, labels in self.each():
            def told(name):
                return self.points(kernel, [hex(labels["at_" + name])])[0]["instruction"]
            self.assertEqual((told("call")["branch"], told("call")["target"]),
                             ("call", labels["HiddenThing"]))
            self.assertEqual((told("conditional")["branch"], told("conditional")["target"]),
                             ("conditional", labels["at_pop"]))
            self.assertEqual((told("indirect")["branch"], told("indirect")["target"]),
                             ("jump", None))
            self.assertEqual(told("return")["branch"], "return")
            self.assertTrue(told("push")["writes_memory"] and told("push")["moves_stack"])
            self.assertTrue(told("pop")["reads_memory"] and told("pop")["moves_stack"])
            self.assertTrue(told("privileged")["privileged"])
            self.assertFalse(told("test")["reads_memory"] or told("test")["moves_stack"])
            self.assertEqual(told("rep")["prefix_bytes"], 1)
            movzx = told("movzx")
            self.assertEqual((movzx["rip_relative"], movzx["target"]),
                             (True, labels["NtFlag"]) if machine == "x64" else (False, None))

    def test_sections_that_the_kernel_refuses(self):
        for machine, kernel, labels in self.each():
            rows = {"NtStart": "init", "NtShadow": "kvascode", "NtGone": "discardable",
                    "NtFlag": "not_executable"}
            for name, code in rows.items():
                for place in (name, hex(labels[name])):
                    point, = self.points(kernel, [place])
                    self.assertEqual((self.codes(point), point["eligible"]), ([code], False))
                    self.assertEqual(point["rva"], labels[name])
            self.assertEqual(self.points(kernel, ["NtPaged"])[0]["section"], "PAGE")
            self.assertTrue(self.points(kernel, ["NtPaged"])[0]["eligible"])

    def test_places_without_an_instruction(self):
        for machine, kernel, labels in self.each():
            point, = self.points(kernel, [hex(labels["at_undefined"])])
            self.assertEqual(self.codes(point), ["no_instruction"])
            for place in ("0", "0x104", "0x7fffffff", "4294967295", "NtOpenThing+0x7fffffff"):
                self.assertEqual(self.codes(self.points(kernel, [place])[0]), ["outside"])
            point, = self.points(kernel, ["NtElsewhere"])
            self.assertEqual((self.codes(point), point["rva"]), (["forwarded"], None))
            point, = self.points(kernel, [hex(labels["at_breakpoint"])])
            self.assertEqual(self.codes(point), ["breakpoint"])
            # A section that is larger in memory than in the file.
            data = bytearray(kernel.read_bytes())
            header = data.index(b"TAIL\0\0\0\0")
            data[header + 8:header + 12] = (0x1000).to_bytes(4, "little")
            bent = self.write("ntoskrnl.exe", bytes(data))
            point, = self.points(bent, [hex(labels["at_undefined"] + 0x800)])
            self.assertEqual((self.codes(point), point["file_offset"]), (["not_stored"], None))

    def test_every_place_of_a_function_is_a_boundary_or_not(self):
        for machine, kernel, labels in self.each():
            truth = Disassembly(kernel).at
            seen = range(labels["NtOpenThing"], labels["at_case"])
            for place, point in zip(seen, self.points(kernel, [hex(place) for place in seen])):
                if place in truth:
                    self.assertEqual(point["boundary"]["state"], "proved", hex(place))
                    self.assertEqual(point["function"],
                                     {"rva": labels["NtOpenThing"], "name": "NtOpenThing"})
                else:
                    self.assertEqual(point["boundary"]["state"], "refuted", hex(place))
                    self.assertIn("not_a_boundary", self.codes(point))

    def test_what_an_indirect_jump_leads_to_is_not_known(self):
        for machine, kernel, labels in self.each():
            hidden = range(labels["at_case"], labels["at_return"] + 1)
            points = self.points(kernel, [hex(place) for place in hidden])
            self.assertEqual({point["boundary"]["state"] for point in points}, {"unknown"})
            self.assertTrue(points[0]["eligible"])
            self.assertIsNot(points[0]["boundary"]["evidence"], [])

    def test_relocations_of_an_instruction(self):
        for machine, kernel, labels in self.each():
            place = labels["at_absolute"]
            done = self.hooks(0, "plan", "-v", "--kernel", kernel, "--function", hex(place),
                              "--fail-on", "context-switch-not-found")
            self.assertIn(b"info: trace-bytes-relocated", done.stderr)
            at = place + (2 if machine == "x64" else 1)
            self.assertEqual(self.points(kernel, [hex(place)])[0]["instruction"]["relocations"],
                             [at])
            # No instruction begins inside an address, whatever is known of the function.
            for byte in range(8 if machine == "x64" else 4):
                point, = self.points(kernel, [hex(at + byte)])
                self.assertIn("not_a_boundary", self.codes(point))
                self.assertIn("the loader adjusts the address", point["boundary"]["evidence"][0])

    def test_one_trace_point_for_an_address_and_a_function(self):
        for machine, kernel, labels in self.each():
            points = self.points(kernel, ["NtOpenThing", "ZwOpenThing", hex(labels["at_push"]),
                                          "NtPaged", "NtPaged"])
            self.assertEqual([self.codes(point) for point in points],
                             [[], ["duplicate_address"], ["duplicate_function"], [],
                              ["duplicate_address"]])
            self.assertEqual(points[0]["names"], ["NtOpenThing", "ZwOpenThing"])
            self.assertIn("NtOpenThing", points[1]["refusals"][0]["text"])
            self.assertIn("NtOpenThing", points[2]["refusals"][0]["text"])
            # What is refused is not a trace point that another could collide with.
            points = self.points(kernel, [hex(labels["at_push"] + 2), "NtOpenThing"])
            self.assertTrue(points[1]["eligible"])

    def test_names_of_a_pdb(self):
        for machine, kernel, labels in self.each():
            point, = self.points(kernel, ["HiddenThing"])
            self.assertEqual(self.codes(point), ["not_found"])
            symbols = ["--pdb", kernel.with_suffix(".pdb")]
            point, = self.points(kernel, ["HiddenThing"], *symbols)
            self.assertEqual((point["source"], point["rva"], point["eligible"]),
                             ("symbol", labels["HiddenThing"], True))
            point, = self.points(kernel, ["HidenThing"], *symbols)
            self.assertIn("HiddenThing", point["refusals"][0]["text"])
            point, = self.points(kernel, ["HiddenTwice"], *symbols)
            self.assertEqual(self.codes(point), ["ambiguous" if machine == "x86" else "not_found"])
            self.assertTrue(self.points(kernel, ["NtMoved"])[0]["eligible"])
            point, = self.points(kernel, ["NtMoved"], *symbols, status=1)
            self.assertEqual((point["source"], point["rva"]), ("export", labels["NtPaged"]))
            other = image("trace-driver-yes", "tracer.sys").with_suffix(".pdb")
            self.plan(kernel, ["NtOpenThing"], "--pdb", other, status=1)

    def test_memory_with_a_breakpoint_already_set(self):
        for machine, kernel, labels in self.each():
            done = subprocess.run([COLDTRACE, "pe", "sections", "--format", "json", kernel],
                                  capture_output=True, timeout=60)
            loaded = bytearray(labels["at_undefined"] + 0x3000)
            data = kernel.read_bytes()
            loaded[:0x400] = data[:0x400]
            for row in strict_json(done.stdout)["images"][0]["sections"]:
                stored = data[row["file_offset"]:row["file_offset"] + row["raw_size"]]
                loaded[row["rva"]:row["rva"] + len(stored)] = stored
            path = self.write("memory", bytes(loaded))
            options = ["--layout", "memory"]
            place = hex(labels["at_movzx"])
            self.assertTrue(self.points(path, [place], *options)[0]["eligible"])
            loaded[labels["at_movzx"]] = 0xcc
            path = self.write("memory", bytes(loaded))
            point, = self.points(path, [place], *options)
            self.assertEqual(self.codes(point), ["breakpoint"])
            self.assertIn("when the memory was saved", point["refusals"][0]["text"])
            self.assertEqual(point["file_offset"], labels["at_movzx"])


class X64(Case):
    def test_parts_of_a_function_are_one(self):
        kernel = image("trace-points-x64")
        labels = Map(kernel.with_suffix(".map")).labels
        first, second = self.points(kernel, [hex(labels["at_first_part"]),
                                             hex(labels["at_second_part"])])
        self.assertEqual(self.codes(second), ["duplicate_function"])
        self.assertEqual([point["function"]["rva"] for point in (first, second)],
                         [labels["NtParted"]] * 2)

    def test_a_driver_must_be_linked_with_integritycheck(self):
        kernel = image("trace-points-x64")
        drivers = [image(f"trace-driver-{check}", "tracer.sys") for check in ("yes", "no")]
        document = self.plan(kernel, ["NtPaged"], "--driver", drivers[0])
        self.assertEqual([(driver["integrity_check"], driver["same_machine"])
                          for driver in document["drivers"]], [(True, True)])
        document = self.plan(kernel, ["NtPaged"], "--driver", drivers[0], "--driver", drivers[1],
                             status=1)
        self.assertEqual([driver["integrity_check"] for driver in document["drivers"]],
                         [True, False])
        self.assertEqual([[finding["code"] for finding in driver["findings"]]
                          for driver in document["drivers"]], [[], ["trace-driver-integrity"]])
        other = image("trace-points-x86")
        self.assertFalse(self.plan(other, ["NtPaged"], "--driver", drivers[0],
                                   status=1)["drivers"][0]["same_machine"])
        self.plan(kernel, ["NtPaged"], "--driver", kernel.with_suffix(".map"), status=1)

    def test_whether_the_kernel_has_trace_points(self):
        rows = (("trace-points-x64", "present", "exports KeSetTracepoint"),
                ("switch-11-x64", "present", "imports TraceInitSystem"),
                ("trace-points-x86", "absent", "before 10.0.18362"),
                ("switch-10-x64", "unknown", "neither exports"))
        for name, state, sentence in rows:
            with self.subTest(name):
                facility = self.plan(image(name), ["0"])["facility"]
                self.assertEqual(facility["state"], state)
                self.assertIn(sentence, facility["evidence"][0])
        kernel = image("switch-10-x64")
        facility = self.plan(kernel, ["0"], "--pdb", kernel.with_suffix(".pdb"))["facility"]
        self.assertEqual(facility["state"], "absent")

    def test_services_that_are_not_exported_are_found_by_ntdlls_names(self):
        kernel = image("tables-x64-kernel-rva32")
        ntdll = image("windows10-x64", "ntdll.dll")
        done = self.hooks(0, "table", "--tolerate", LACKING, "--format", "json", "--kernel", kernel,
                          "--ntdll", ntdll)
        services = strict_json(done.stdout)["builds"][0]["services"]
        done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", kernel],
                              capture_output=True, timeout=60)
        exported = {entry["name"] for entry in strict_json(done.stdout)["images"][0]["exports"]}
        hidden = [service for service in services
                  if service["names"] and service["names"][0] not in exported]
        self.assertGreater(len(hidden), 5)
        names = [service["names"][0] for service in hidden]
        points = self.points(kernel, names, "--ntdll", ntdll)
        for service, point in zip(hidden, points):
            self.assertEqual((point["source"], point["rva"]), ("service_table", service["target"]))

    def test_findings_are_of_the_file_whose_offsets_they_have(self):
        kernel = image("tables-x86-kernel")
        self.assertIsNone(self.plan(kernel, ["0"])["ntdll"])
        for ntdll, hooked in ((image("hooked-x86", "ntdll.dll"), True), (image("xp-sp2-x86", "ntdll.dll"), False)):
            with self.subTest(ntdll=ntdll):
                plan = self.plan(kernel, ["NtNothing"], "--ntdll", ntdll, status=int(hooked))
                self.assertEqual(plan["ntdll"]["path"], str(ntdll))
                codes = [[finding["code"] for finding in findings]
                         for findings in (plan["ntdll"]["findings"], plan["findings"])]
                self.assertEqual(("hooked-stub" in codes[0], "hooked-stub" in codes[1]), (hooked, False))


class Commands(Case):
    def test_exit_statuses(self):
        kernel = image("trace-points-x64")
        start = ("plan", "--kernel", kernel)
        self.hooks(0, *start, "--function", "NtPaged")
        self.hooks(1, *start, "--function", "NtStart")
        self.hooks(0, *start, "--function", "NtStart", "--tolerate", "trace-point-refused")
        self.hooks(1, *start, "--function", "0x1030", "--fail-on", "trace-boundary-unknown")
        for arguments in (start, (*start, "--function", "0xzz"), (*start, "--function", "99999999999"),
                          (*start, "--function", "NtPaged+0x111111111"), (*start, "--function", ""),
                          ("plan", "--function", "NtPaged"),
                          ("plan", "--kernel", self.here, "--function", "NtPaged"),
                          ("plan", "--kernel", kernel.with_suffix(".map"), "--function", "x")):
            self.hooks(2, *arguments)

    def test_text_says_the_same(self):
        kernel = image("trace-points-x64")
        done = self.hooks(1, "plan", "--kernel", kernel, "--function", "NtOpenThing", "0x1005",
                          "NtShadow")
        text = done.stdout.decode()
        for sentence in ("NtOpenThing: rva 0x1000 by export, file offset 0x400, address 0x1800",
                         "patch 48 -> cc\n",
                         "the emulator of Windows 10 1903: known", "duplicate_function: NtOpenThing",
                         "kvascode: it is in the section KVASCODE"):
            self.assertIn(sentence, text)


class Wine(Case):
    """A real kernel image, if only in name: thousands of places against another disassembler."""

    def kernel(self, machine):
        path = WINE / machine / "ntoskrnl.exe"
        if not path.exists():
            raise unittest.SkipTest(f"no {path}")
        done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", path],
                              capture_output=True, timeout=60)
        exports = strict_json(done.stdout)["images"][0]["exports"]
        return path, [entry for entry in exports
                      if entry["name"] and not entry["forwarder"] and entry["rva"]]

    def test_exported_functions_and_their_aliases(self):
        for machine in ("amd64", "i386"):
            with self.subTest(machine):
                path, exports = self.kernel(machine)
                truth = Disassembly(path).at
                names = [entry["name"] for entry in exports if entry["rva"] in truth]
                points = self.points(path, names, valid=False)
                taken = set()
                for point in points:
                    if point["rva"] in taken:
                        self.assertEqual(self.codes(point), ["duplicate_address"])
                    elif point["eligible"]:
                        taken.add(point["rva"])
                        self.assertEqual(point["boundary"]["state"], "proved", point["requested"])
                        self.assertEqual(point["instruction"]["bytes"],
                                         truth[point["rva"]][0].hex(), point["requested"])
                self.assertGreater(len(taken), 300)

    def test_nothing_is_claimed_that_the_disassembler_denies(self):
        for machine, least in (("amd64", 10000), ("i386", 10000)):
            with self.subTest(machine):
                path, exports = self.kernel(machine)
                truth = Disassembly(path).at
                places = sorted({entry["rva"] + offset for entry in exports
                                 if entry["rva"] in truth for offset in range(24)})
                states = {"proved": 0, "refuted": 0, "unknown": 0}
                for start in range(0, len(places), 2000):
                    chunk = places[start:start + 2000]
                    points = self.points(path, [hex(at) for at in chunk], valid=False)
                    for place, point in zip(chunk, points):
                        state = point["boundary"]["state"]
                        states[state] += 1
                        if state != "unknown":
                            self.assertEqual(state == "proved", place in truth, hex(place))
                self.assertGreater(states["proved"] + states["refuted"], least)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])
