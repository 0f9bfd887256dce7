/** What processors did, slice by slice, as the timeline draws it. */

/** Codes of threads in slices: 0 is nobody who is known. */
const nobody = 0;

/** The slices of one processor, in columns. */
function readLane(reader, count, hasDetails) {
  const gaps = reader.column(count, Float64Array);
  const lengths = reader.column(count, Float64Array);
  const thread = reader.column(count, Uint32Array);
  const turns = reader.column(count, Uint32Array);
  const begin = new Float64Array(count);
  const end = new Float64Array(count);
  const share = new Float32Array(count).fill(1);
  let at = 0;
  for (let i = 0; i < count; ++i) {
    begin[i] = at + gaps[i];
    at = end[i] = begin[i] + lengths[i];
    if (++turns[i] > 1) share[i] = Math.min(1, reader.number() / Math.max(1, lengths[i]));
    if (thread[i] === nobody) share[i] = 0;
  }
  const lane = { count, begin, end, thread, turns, share, details: null };
  if (hasDetails) lane.details = readDetails(reader, lane);
  return lane;
}

/** Of the slices that are one turn of a known thread; `of` has their place in the columns. */
function readDetails(reader, lane) {
  const of = new Int32Array(lane.count).fill(-1);
  let count = 0;
  for (let i = 0; i < lane.count; ++i)
    if (lane.turns[i] === 1 && lane.thread[i] !== nobody) of[i] = count++;
  const details = {
    of,
    state: reader.column(count, Uint8Array),
    reason: reader.column(count, Uint8Array),
    latency: reader.column(count, Float64Array),
    waker: reader.column(count, Uint32Array),
    priority: reader.signedColumn(count, Int8Array),
    buffer: reader.signedColumn(count, Float64Array),
    offset: reader.column(count, Float64Array),
  };
  for (let i = 1; i < count; ++i) details.buffer[i] += details.buffer[i - 1];
  return details;
}

export function readLanes(reader, facts) {
  return facts.lanes.map(count => readLane(reader, count, facts.details));
}

/** Requests to disks, in the order of their begin. */
export function readRequests(reader, count) {
  const gaps = reader.column(count, Float64Array);
  const requests = {
    count,
    begin: new Float64Array(count),
    length: reader.column(count, Float64Array),
    disk: reader.column(count, Uint16Array),
    action: reader.column(count, Uint8Array),
    bytes: reader.column(count, Float64Array),
    thread: reader.column(count, Uint32Array),
    file: reader.column(count, Uint32Array),
    longest: 0,
  };
  let at = 0;
  for (let i = 0; i < count; ++i) {
    requests.begin[i] = at += gaps[i];
    requests.longest = Math.max(requests.longest, requests.length[i]);
  }
  return requests;
}

/** The first place of a sorted array whose value is not below `wanted`. */
export function lowerBound(sorted, wanted) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * For each row, by lane the places of its slices; `rows` is by code of a thread, -1: in none.
 */
export function groupSlices(lanes, count, rows) {
  const groups = Array.from({ length: count }, () => new Array(lanes.length));
  lanes.forEach((lane, number) => {
    const sizes = new Uint32Array(count);
    for (let i = 0; i < lane.count; ++i) {
      const row = rows[lane.thread[i]];
      if (row >= 0) ++sizes[row];
    }
    for (let row = 0; row < count; ++row) groups[row][number] = new Int32Array(sizes[row]);
    sizes.fill(0);
    for (let i = 0; i < lane.count; ++i) {
      const row = rows[lane.thread[i]];
      if (row >= 0) groups[row][number][sizes[row]++] = i;
    }
  });
  return groups;
}

/** The part of `places`, which are in the order of time, whose slices lie between two moments. */
export function placesBetween(lane, places, from, to) {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.end[places[middle]] <= from) low = middle + 1;
    else high = middle;
  }
  const first = low;
  high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.begin[places[middle]] < to) low = middle + 1;
    else high = middle;
  }
  return [first, low];
}

/** Adds to `sums`, one for each step between two moments, how much of it a slice takes. */
export function addToSteps(sums, from, to, begin, end, share) {
  const width = (to - from) / sums.length;
  const first = Math.max(from, begin);
  const last = Math.min(to, end);
  let step = Math.min(sums.length - 1, Math.max(0, Math.floor((first - from) / width)));
  let at = first;
  while (at < last && step < sums.length) {
    const next = Math.min(last, from + (step + 1) * width);
    sums[step] += (Math.max(0, next - at) / width) * share;
    at = next;
    ++step;
  }
}
