// What the modules of report/ do without a page: node --test report_modules.mjs
import assert from "node:assert/strict";
import test from "node:test";

import { Reader } from "../../../../report/data.js";
import { grouped, moment, roundStep, shortBytes, shortTime, tickLabel } from "../../../../report/figures.js";
import { CallTree } from "../../../../report/flame.js";
import { Names, dateOf } from "../../../../report/names.js";
import { addToSteps, groupSlices, lowerBound, placesBetween } from "../../../../report/lanes.js";
import { orderOf } from "../../../../report/tables.js";

test("numbers of any size are read back", () => {
  // By the definition of LEB128: seven bits a byte, the least first.
  const reader = new Reader(Uint8Array.of(0x00, 0x7f, 0x80, 0x01, 0xe5, 0x8e, 0x26, 0x01, 0x02));
  assert.deepEqual([0, 1, 2, 3].map(() => reader.number()), [0, 127, 128, 624485]);
  assert.deepEqual([reader.signed(), reader.signed()], [-1, 1]);
});

test("figures are those of the tables", () => {
  assert.equal(grouped(1234567), "1,234,567");
  assert.equal(grouped(123), "123");
  assert.deepEqual([0, 4, 9999, 12345, 12345678, 1234567890].map(shortTime),
    ["0", "0.4 µs", "999.9 µs", "1.2 ms", "1.235 s", "123.5 s"]);
  assert.deepEqual([1023, 1024, 1048524, 1048525, 12345678].map(shortBytes),
    ["1023 B", "1.0 KiB", "1023.9 KiB", "1.0 MiB", "11.8 MiB"]);
  assert.equal(moment(12345), "+0.0012345");
  assert.equal(moment(-5), "-0.0000005");
});

test("ticks are round and told apart", () => {
  for (const span of [200, 12345, 1e7, 3.7e9]) {
    const step = roundStep(span, 8);
    assert.ok(span / step <= 8 && span / step > 2.5);
    const labels = [0, 1, 2, 3].map(i => tickLabel(i * step, step, span));
    assert.equal(new Set(labels).size, 4, labels.join());
  }
});

test("the first place that is not below", () => {
  const sorted = [1, 3, 3, 7];
  for (const wanted of [0, 1, 2, 3, 4, 7, 8])
    assert.equal(lowerBound(sorted, wanted), sorted.filter(one => one < wanted).length);
});

test("slices are grouped by row, and found between two moments", () => {
  const lane = { count: 4, begin: [0, 10, 20, 30], end: [5, 15, 25, 35], thread: [1, 2, 1, 0] };
  const [first, second] = groupSlices([lane], 2, Int32Array.of(-1, 0, 1));
  assert.deepEqual([...first[0]], [0, 2]);
  assert.deepEqual([...second[0]], [1]);
  assert.deepEqual(placesBetween(lane, [0, 1, 2, 3], 15, 30), [2, 3]);
  assert.deepEqual(placesBetween(lane, [0, 1, 2, 3], 4, 31), [0, 4]);
});

test("no time is lost in steps", () => {
  const sums = new Float32Array(10);
  addToSteps(sums, 0, 100, 5, 25, 1);
  addToSteps(sums, 0, 100, 95, 200, 0.5);
  assert.deepEqual([...sums], [0.5, 1, 0.5, 0, 0, 0, 0, 0, 0, 0.25]);
});

test("equal rows keep their order", () => {
  assert.deepEqual(orderOf([2, 1, 2, 3], false), [1, 0, 2, 3]);
  assert.deepEqual(orderOf([2, 1, 2, 3], true), [3, 0, 2, 1]);
});

test("a call is as wide as its share, over its callers", () => {
  const tree = new CallTree([0, 0, 0, 1], ["all", "a", "b", "c"], [100, 75, 25, 30]);
  assert.deepEqual(tree.layOut(0).map(([node, x, width, depth]) => [node, x, width, depth]).sort(),
    [[0, 0, 1000, 0], [1, 0, 750, 1], [2, 750, 250, 1], [3, 0, 300, 2]]);
  assert.deepEqual(tree.layOut(1), [[0, 0, 1000, 0], [1, 0, 1000, 1], [3, 0, 400, 2]]);
});

test("names are found by part of their path, and by day", () => {
  const facts = { count: 4, directories: ["", "/Users"], names: ["boot.INI", "Users", "a.txt", "B.txt"], firstDay: 100, clusterSize: 512 };
  // By column: names of each directory, flags, sizes, on the disk, four days, extents, of these kept, places.
  const bytes = [2, 2, 0, 2, 0, 1, 5, 0, 6, 7, 8, 0, 8, 8, 0, 0, 0, 0, 1, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 2, 0, 1, 0,
    20, 3, 1, 2, 4, 1];
  const names = new Names(new Reader(Uint8Array.from(bytes)), facts);
  assert.deepEqual([0, 1, 2, 3].map(place => names.path(place)), ["/boot.INI", "/Users", "/Users/a.txt", "/Users/B.txt"]);
  assert.deepEqual(names.find("USERS/"), [2, 3]);
  assert.deepEqual(names.find(".ini"), [0]);
  assert.deepEqual([0, 1, 2, 3].map(place => names.day(place, 1)), [100, 102, 0, 101]);
  assert.deepEqual(names.find("", { kind: 1, from: 101, to: 102 }), [1, 3]);
  assert.deepEqual(names.find("", { kind: 0, from: 0, to: 1000 }), [0, 1, 2, 3]);
  // First cluster 10, of 3; one before the end of that, of 2; two behind the end of that, of 1.
  assert.deepEqual(names.extentsOf(0), [[10, 3], [12, 2]]);
  assert.deepEqual(names.extentsOf(1), []);
  assert.deepEqual(names.extentsOf(2), [[16, 1]]);
  assert.equal(dateOf(0), "1601-01-01");
  assert.equal(dateOf(134774 + 19783), "2024-03-01");
});
