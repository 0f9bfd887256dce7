#include "coldtrace/trace_export/perfetto_trace.hpp"

#include <algorithm>

#include "tracefile/export/perfetto_fields.hpp"
#include "tracefile/export/perfetto_packets.hpp"
#include "tracefile/export/perfetto_schedule.hpp"
#include "tracefile/export/perfetto_tracks.hpp"

namespace coldtrace::trace_export {
namespace field = perfetto;
using protozero::pbf_writer;

namespace {

// Requests to an unknown disk have a row of their own, behind those of all disks.
u64 row_of_disk(std::optional<u32> disk) {
  return disk ? u64{*disk} : u64{1} << 32U;
}

std::string name_of_disk(std::optional<u32> disk) {
  return disk ? "disk " + std::to_string(*disk) : "unknown disk";
}

}  // namespace

PerfettoTrace::PerfettoTrace(core::Borrowed<TimelineNames> names, ByteSink write, Options options)
    : names_{names.get()},
      chain_{names, [this](const ChainedSwitch& change) { schedule_->add(change); }},
      packets_{std::make_unique<PerfettoPackets>(std::move(write), options.compress)},
      schedule_{std::make_unique<PerfettoSchedule>(*packets_)} {}

PerfettoTrace::~PerfettoTrace() = default;

bool PerfettoTrace::has_place(i64 begin) {
  if (names_.nanoseconds(begin) >= 0) return true;
  ++left_out_;
  return false;
}

void PerfettoTrace::on_switch(const ContextSwitch& record, const Turn* ended, bool is_shown) {
  flush_interrupts(*record.moment.cpu);
  chain_.on_switch(record, ended, is_shown);
}

void PerfettoTrace::on_last_turn(const Turn& turn, bool misses_events) {
  chain_.on_last_turn(turn, misses_events);
}

void PerfettoTrace::on_ready(const Readied& record) {
  schedule_->add(
      {names_.nanoseconds(record.moment.time), record.moment.cpu, chain_.id_of(record.thread),
       record.waker == nobody ? 0 : chain_.id_of(record.waker), record.adjustment, record.in_dpc});
}

u64 PerfettoTrace::track_of_thread(Index thread) {
  const auto track = family(Family::thread, thread);
  auto& row = rows_[track];
  if (row.is_described) return track;
  row.is_described = true;
  const auto& known = names_.population().threads()[thread];
  const auto pid = trace_analysis::pid_of(names_.population(), thread);
  describe_track(*packets_, track, [&](pbf_writer& descriptor) {
    pbf_writer description{descriptor, field::track_descriptor::thread};
    description.add_int32(field::track_descriptor::thread_descriptor::pid,
                          static_cast<i32>(pid.value_or(0)));
    description.add_int32(field::track_descriptor::thread_descriptor::tid,
                          static_cast<i32>(known.tid));
  });
  return track;
}

void PerfettoTrace::on_call(const Services::Seen& seen) {
  if (!has_place(seen.begin)) return;
  u64 track = 0;
  if (seen.thread != nobody) {
    track = track_of_thread(seen.thread);
  } else {
    const auto cpu = *seen.end.cpu;
    track = family(Family::interrupts, cpu);
    auto& row = rows_[track];
    if (!row.is_described)
      describe_track(*packets_, track, [&](pbf_writer& descriptor) {
        descriptor.add_string(field::track_descriptor::name,
                              "interrupts of processor " + std::to_string(cpu));
      });
    row.is_described = true;
  }
  auto& row = rows_[track];
  const Slice slice{names_.nanoseconds(seen.begin), names_.nanoseconds(seen.end.time), ++order_,
                    names_.service(seen.service)};
  row.slices.push_back(slice);
  if (seen.is_outermost || row.slices.size() == most_slices) flush_slices(track, row);
}

// None is open across a context switch.
void PerfettoTrace::flush_interrupts(u16 cpu) {
  const auto row = rows_.find(family(Family::interrupts, cpu));
  if (row != rows_.end()) flush_slices(row->first, row->second);
}

// Perfetto nests what begins first, and at one time what comes first.
void PerfettoTrace::flush_slices(u64 track, Row& row) {
  auto& slices = row.slices;
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return a.order > b.order;
  });
  std::vector<i64> open;
  const auto close_until = [&](i64 time) {
    while (!open.empty() && open.back() <= time) {
      end_slice(*packets_, track, open.back());
      open.pop_back();
    }
  };
  for (const auto& slice : slices) {
    close_until(slice.begin);
    begin_slice(*packets_, track, slice.begin, slice.name, [](pbf_writer&) {});
    open.push_back(slice.end);
  }
  close_until(std::numeric_limits<i64>::max());
  slices.clear();
}

// What overlaps comes in the order of its ends: a row is free where the last one has ended.
std::optional<u64> PerfettoTrace::lane(u64 base, i64 begin, i64 end, const std::string& name,
                                       std::optional<u64> parent) {
  auto& lanes = lanes_[base];
  const auto free =
      std::find_if(lanes.begin(), lanes.end(), [&](i64 until) { return until <= begin; });
  const auto number = static_cast<u64>(free - lanes.begin());
  if (number == most_lanes) {
    ++beyond_limits_;
    return std::nullopt;
  }
  if (free != lanes.end()) {
    *free = end;
    return base | number;
  }
  lanes.push_back(end);
  describe_track(*packets_, base | number, [&](pbf_writer& descriptor) {
    if (parent) descriptor.add_uint64(field::track_descriptor::parent_uuid, *parent);
    descriptor.add_string(field::track_descriptor::name, name);
  });
  return base | number;
}

void PerfettoTrace::on_disk_request(const DiskRequest& request) {
  if (!request.begin || !has_place(*request.begin)) return;
  const auto begin = names_.nanoseconds(*request.begin);
  const auto end = names_.nanoseconds(request.end.time);
  const auto track = lane(family(Family::disk, row_of_disk(request.disk)), begin, end,
                          name_of_disk(request.disk), std::nullopt);
  if (!track) return;
  begin_slice(*packets_, *track, begin, std::string{to_string(request.action)},
              [&](pbf_writer& event) {
                add_argument(event, "offset", request.offset);
                add_argument(event, "bytes", request.bytes);
                if (request.thread != nobody)
                  add_argument(event, "thread", names_.thread_of_process(request.thread));
              });
  end_slice(*packets_, *track, end);
  if (steps_ >= most_steps) {
    ++beyond_limits_;
    return;
  }
  steps_ += 2;
  auto& steps = disks_[request.disk];
  steps.push_back({begin, 1});
  steps.push_back({end, -1});
}

void PerfettoTrace::on_file_operation(const FileOperation& operation) {
  if (!has_place(operation.begin) || operation.thread == nobody) return;
  const auto begin = names_.nanoseconds(operation.begin);
  const auto end = names_.nanoseconds(operation.end.time);
  const auto parent = track_of_thread(operation.thread);
  const auto track = lane(family(Family::file, operation.thread), begin, end, "files", parent);
  if (!track) return;
  begin_slice(*packets_, *track, begin, std::string{to_string(operation.action)},
              [&](pbf_writer& event) {
                const auto file = names_.file(operation.file);
                if (!file.empty()) add_argument(event, "file", file);
                add_argument(event, "bytes", operation.bytes);
                add_argument(event, "status", u64{operation.status});
              });
  end_slice(*packets_, *track, end);
}

void PerfettoTrace::on_region(const Region& region) {
  if (!has_place(region.begin)) return;
  const auto begin = names_.nanoseconds(region.begin);
  const auto end = names_.nanoseconds(region.end.time);
  const auto parent = track_of_thread(region.thread);
  const auto track = lane(family(Family::region, region.thread), begin, end, "regions", parent);
  if (!track) return;
  begin_slice(*packets_, *track, begin, region.name.empty() ? region.provider : region.name,
              [&](pbf_writer& event) {
                if (!region.provider.empty()) add_argument(event, "provider", region.provider);
                for (const auto& argument : region.arguments)
                  add_argument(event, argument.name, argument.value);
              });
  end_slice(*packets_, *track, end);
}

// Names of threads that the events of Windows have are known by their end.
void PerfettoTrace::write_processes() {
  namespace tree = field::process_tree;
  const auto& population = names_.population();
  const auto at = [&](const std::optional<i64>& start) {
    return static_cast<u64>(std::max<i64>(0, start ? names_.nanoseconds(*start) : 0));
  };
  const auto add_process = [&](u64 time, u32 pid, std::optional<u32> parent,
                               const std::string& name) {
    packets_->add([&](pbf_writer& packet) {
      packet.add_uint64(field::trace_packet::timestamp, time);
      pbf_writer processes{packet, field::trace_packet::process_tree};
      pbf_writer process{processes, tree::processes};
      process.add_int32(tree::process::pid, static_cast<i32>(pid));
      if (parent) process.add_int32(tree::process::ppid, static_cast<i32>(*parent));
      if (!name.empty()) process.add_string(tree::process::cmdline, name);
    });
  };
  for (Index i = 0; i < population.processes().size(); ++i) {
    const auto& process = population.processes()[i];
    if (process.pid != 0)
      add_process(at(process.life.start), process.pid, process.stated_parent,
                  names_.process_name(i));
  }
  if (chain_.has_lost()) add_process(0, lost_id, std::nullopt, "[events are missing]");
  if (chain_.has_not_shown()) add_process(0, not_shown_id, std::nullopt, "[not shown]");
  for (Index i = 0; i < population.threads().size(); ++i) {
    const auto& thread = population.threads()[i];
    const auto pid = trace_analysis::pid_of(population, i);
    if (thread.idle_of || !pid) continue;
    packets_->add([&](pbf_writer& packet) {
      packet.add_uint64(field::trace_packet::timestamp, at(thread.life.start));
      pbf_writer threads{packet, field::trace_packet::process_tree};
      pbf_writer entry{threads, tree::threads};
      entry.add_int32(tree::thread::tid, static_cast<i32>(thread.tid));
      const auto name = names_.thread_name(i);
      if (!name.empty()) entry.add_string(tree::thread::name, name);
      entry.add_int32(tree::thread::tgid, static_cast<i32>(*pid));
    });
  }
}

void PerfettoTrace::write_disk_queues() {
  for (auto& [disk, steps] : disks_) {
    const auto track = family(Family::disk_queue, row_of_disk(disk));
    describe_counter(*packets_, track, "requests of " + name_of_disk(disk));
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.time < b.time; });
    i64 queue = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      queue += steps[i].change;
      if (i + 1 == steps.size() || steps[i + 1].time != steps[i].time)
        count(*packets_, track, steps[i].time, queue);
    }
  }
}

void PerfettoTrace::write_losses(const Observed& observed) {
  const auto& stretches = observed.losses.all();
  if (stretches.empty()) return;
  const auto track = family(Family::losses, 0);
  describe_track(*packets_, track, [](pbf_writer& descriptor) {
    descriptor.add_string(field::track_descriptor::name, "events may be missing");
  });
  for (const auto& stretch : stretches) {
    const auto begin = std::max(stretch.from, observed.first.value_or(0));
    const auto end = std::min(stretch.to, observed.last.value_or(0));
    if (end < begin) continue;
    begin_slice(*packets_, track, names_.nanoseconds(begin), "events may be missing",
                [](pbf_writer&) {});
    end_slice(*packets_, track, names_.nanoseconds(end));
  }
}

void PerfettoTrace::finish(const Observed& observed) {
  schedule_->flush();
  for (auto& [track, row] : rows_) flush_slices(track, row);
  schedule_->describe_counter_of_processors();
  write_disk_queues();
  write_losses(observed);
  write_processes();
  const auto start = names_.start();
  if (start)
    packets_->add([&](pbf_writer& packet) {
      namespace c = field::clock_snapshot;
      packet.add_uint64(field::trace_packet::timestamp, 0);
      pbf_writer snapshot{packet, field::trace_packet::clock_snapshot};
      const auto add_clock = [&](u32 id, u64 time) {
        pbf_writer clock{snapshot, c::clocks};
        clock.add_uint32(c::clock_id, id);
        clock.add_uint64(c::timestamp, time);
      };
      add_clock(c::boottime, 0);
      add_clock(c::realtime, static_cast<u64>(*start));
    });
  packets_->finish();
}

}  // namespace coldtrace::trace_export
