#include <algorithm>
#include <set>

#include "cli/report/page/memory_text.hpp"
#include "cli/report/page/packed_data.hpp"
#include "cli/report/trace/trace_sections.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::DiskAction;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::ProcessorLanes;
using trace_analysis::SliceLanes;
using trace_analysis::ThreadState;
using Slice = SliceLanes::Slice;

constexpr u16 unknown_disk = 0xffff;
constexpr u8 wait_reasons = 41;  // that have names, and as many as the columns have room for
constexpr u8 thread_states = 10;

// The threads and processes that the timeline names, under numbers of the page: processes that ran
// longest first, threads as they are met in the trace.
class Cast {
 public:
  Cast(const ReportAnswers& answers, const SliceLanes& lanes, const DrawnData& drawn)
      : answers_{answers} {
    std::vector<bool> is_met(answers.population.threads().size());
    for (const auto& lane : lanes.all())
      for (const auto& slice : lane) meet(is_met, slice.thread);
    if (drawn.has_details)
      for (const auto& details : answers.lanes.details()) meet(is_met, details.waker);
    for (std::size_t i = 0; i < drawn.requests; ++i)
      meet(is_met, answers.requests.requests[i].thread);
    codes_.resize(is_met.size());
    for (Index i = 0; i < is_met.size(); ++i)
      if (is_met[i]) {
        threads_.push_back(i);
        codes_[i] = static_cast<u32>(threads_.size());
      }
    rank_processes();
  }

  // 0: nobody.
  u32 code_of(Index thread) const { return thread == nobody ? 0 : codes_[thread]; }

  void write(JsonWriter& json) const {
    const auto& population = answers_.population;
    json.key("processes").begin_array();
    for (const auto index : processes_) {
      const auto& process = population.processes()[index];
      json.begin_array().value(core::printable(process.image_name)).value(process.pid).end_array();
    }
    json.end_array().key("threads").begin_array();
    for (const auto index : threads_) {
      const auto& thread = population.threads()[index];
      const i64 process = thread.process == nobody ? -1 : i64{places_[thread.process]};
      json.begin_array()
          .value(process)
          .value(thread.tid)
          .value(core::printable(answers_.names.function(index)))
          .end_array();
    }
    json.end_array();
  }

 private:
  static void meet(std::vector<bool>& is_met, Index thread) {
    if (thread != nobody) is_met[thread] = true;
  }

  void rank_processes() {
    const auto& population = answers_.population;
    const auto& scheduled = answers_.top_answers.use.get().schedule().threads();
    std::vector<i64> running(population.processes().size(), -1);
    for (const auto index : threads_) {
      const auto process = population.threads()[index].process;
      if (process == nobody) continue;
      running[process] = std::max<i64>(running[process], 0);
      if (index < scheduled.size())
        trace_analysis::add_ticks(running[process], scheduled[index].running);
    }
    for (Index i = 0; i < running.size(); ++i)
      if (running[i] >= 0) processes_.push_back(i);
    std::ranges::stable_sort(processes_, std::greater{}, [&](Index i) { return running[i]; });
    places_.resize(running.size());
    for (u32 i = 0; i < processes_.size(); ++i) places_[processes_[i]] = i;
  }

  const ReportAnswers& answers_;
  std::vector<Index> threads_, processes_;
  std::vector<u32> codes_, places_;
};

// The columns of one processor, in units of 100 ns since the first event.
class LaneColumns {
 public:
  LaneColumns(const ReportAnswers& answers, const Cast& cast, const std::vector<Slice>& slices,
              PackedData& data)
      : answers_{answers}, cast_{cast}, slices_{slices}, data_{data} {}

  void write(bool with_details) {
    i64 at = 0;
    for (const auto& slice : slices_) {
      data_.number(static_cast<u64>(moment(slice.begin) - at));
      at = moment(slice.end);
    }
    for (const auto& slice : slices_)
      data_.number(static_cast<u64>(moment(slice.end) - moment(slice.begin)));
    for (const auto& slice : slices_) data_.number(cast_.code_of(slice.thread));
    for (const auto& slice : slices_) data_.number(slice.turns - 1);
    for (const auto& slice : slices_)
      if (slice.turns > 1) data_.number(static_cast<u64>(answers_.duration(slice.busy)));
    if (with_details) write_details();
  }

 private:
  using Details = ProcessorLanes::Details;

  i64 moment(i64 time) const { return std::max<i64>(0, answers_.moment(time)); }

  template <class Write>
  void column(Write write) {
    static constexpr Details nothing{};
    for (const auto& slice : slices_) {
      if (slice.turns > 1 || slice.thread == nobody) continue;
      const bool has = slice.details != SliceLanes::no_details;
      write(slice, has ? answers_.lanes.details()[slice.details] : nothing);
    }
  }

  void write_details() {
    column([&](const Slice&, const Details& one) {
      const auto state = one.state ? static_cast<u8>(*one.state) + 1U : 0;
      data_.number(state <= thread_states ? state : 0);
    });
    column([&](const Slice&, const Details& one) {
      data_.number(one.wait_reason && *one.wait_reason < wait_reasons ? *one.wait_reason + 1U : 0);
    });
    column([&](const Slice& slice, const Details& one) {
      data_.number(one.readied ? static_cast<u64>(moment(slice.begin) -
                                                  moment(std::min(*one.readied, slice.begin))) +
                                     1
                               : 0);
    });
    column([&](const Slice&, const Details& one) {
      const auto code = cast_.code_of(one.waker);
      data_.number(code > 0 ? code + 1U : one.woken_in_dpc ? 1U : 0U);
    });
    column(
        [&](const Slice&, const Details& one) { data_.signed_number(one.priority.value_or(-1)); });
    u64 buffer = 0;
    column([&](const Slice&, const Details& one) {
      data_.signed_number(static_cast<i64>(one.place.buffer - buffer));
      buffer = one.place.buffer;
    });
    column([&](const Slice&, const Details& one) { data_.number(one.place.offset); });
  }

  const ReportAnswers& answers_;
  const Cast& cast_;
  const std::vector<Slice>& slices_;
  PackedData& data_;
};

class TraceData {
 public:
  TraceData(const ReportAnswers& answers, const SliceLanes& lanes, const DrawnData& share)
      : answers_{answers},
        lanes_{lanes},
        requests_{share.requests},
        details_{share.has_details},
        cast_{answers, lanes, share},
        trees_{draw_trees(answers)} {}

  std::string pack() {
    PackedData data;
    data.facts(facts());
    for (const auto& lane : lanes_.all()) LaneColumns{answers_, cast_, lane, data}.write(details_);
    write_requests(data);
    for (const auto& tree : trees_) {
      for (const auto& node : tree.nodes) data.number(node.parent);
      for (const auto& node : tree.nodes) data.number(node.name);
      for (const auto& node : tree.nodes) data.number(static_cast<u64>(node.total));
    }
    return data.take();
  }

 private:
  std::string facts() {
    constexpr std::size_t most = std::size_t{1} << 30U;
    return text_in_memory(most, [this](Output& memory) { write_facts(memory); }).value_or("{}");
  }

  void write_facts(Output& memory) {
    JsonWriter json{memory, Int64::number};
    json.begin_object()
        .field("duration", answers_.moment(answers_.observed.last.value_or(0)))
        .field("details", details_)
        .key("lanes")
        .begin_array();
    for (const auto& lane : lanes_.all()) json.value(u64{lane.size()});
    json.end_array();
    cast_.write(json);
    write_names(json);
    write_request_facts(json);
    write_trees(json);
    write_idle(json);
    json.end_object();
  }

  static void write_names(JsonWriter& json) {
    json.key("reasons").begin_array();
    for (u8 i = 0; i < wait_reasons; ++i) json.value(wait_reason_text(i));
    json.end_array().key("states").begin_array();
    for (u8 i = 0; i < thread_states; ++i)
      json.value(trace_analysis::to_string(static_cast<ThreadState>(i)));
    json.end_array().key("actions").begin_array();
    for (u8 i = 0; i < 4; ++i) json.value(to_string(static_cast<DiskAction>(i)));
    json.end_array();
  }

  static u16 disk_of(const DrawnRequests::Request& request) {
    return request.disk && *request.disk < unknown_disk ? static_cast<u16>(*request.disk)
                                                        : unknown_disk;
  }

  std::span<const DrawnRequests::Request> requests() const {
    return std::span{answers_.requests.requests}.first(requests_);
  }

  void write_request_facts(JsonWriter& json) {
    std::set<u16> disks;
    const auto& files = answers_.top_answers.disk.get().files();
    for (const auto& request : requests()) {
      disks.insert(disk_of(request));
      if (request.file != 0 && file_codes_.try_emplace(request.file, files_.size() + 1).second)
        files_.push_back(request.file);
    }
    json.field("requests", u64{requests_}).key("disks").begin_array();
    for (const auto disk : disks) json.value(disk);
    json.end_array().key("files").begin_array();
    for (const auto file : files_) json.value(core::printable(files[file].name));
    json.end_array();
  }

  void write_requests(PackedData& data) const {
    i64 at = 0;
    const auto begin_of = [&](const auto& one) {
      return std::max<i64>(0, answers_.moment(one.begin));
    };
    for (const auto& one : requests()) {
      data.number(static_cast<u64>(begin_of(one) - at));
      at = begin_of(one);
    }
    for (const auto& one : requests())
      data.number(
          static_cast<u64>(std::max(begin_of(one), answers_.moment(one.end)) - begin_of(one)));
    for (const auto& one : requests()) data.number(disk_of(one));
    for (const auto& one : requests()) data.number(static_cast<u64>(one.action));
    for (const auto& one : requests())
      data.number(one.bytes ? core::saturating_add(*one.bytes, 1) : 0);
    for (const auto& one : requests()) data.number(cast_.code_of(one.thread));
    for (const auto& one : requests()) {
      const auto known = file_codes_.find(one.file);
      data.number(known == file_codes_.end() ? 0 : known->second);
    }
  }

  void write_trees(JsonWriter& json) const {
    json.key("flames").begin_array();
    for (const auto& tree : trees_) {
      json.begin_object().field("id", tree.id).field("count", u64{tree.nodes.size()}).key("names");
      json.value(tree.names).end_object();
    }
    json.end_array();
  }

  void write_idle(JsonWriter& json) const {
    json.key("idle").begin_array();
    for (const auto& [device, one] : answers_.rest.devices()) {
      json.begin_object().field("id", idle_id(device)).field("timeouts", answers_.timeouts);
      std::vector<i64> off, waiting;
      std::vector<u64> starts;
      for (std::size_t i = 0; i < answers_.timeouts.size(); ++i) {
        const auto& saving = one.savings()[i];
        off.push_back(saving.off(answers_.input.trace.clock(), answers_.timeouts[i]));
        starts.push_back(saving.spin_ups);
        waiting.push_back(saving.waiting);
      }
      json.field("off", off).field("spinUps", starts).field("waiting", waiting).end_object();
    }
    json.end_array();
  }

  const ReportAnswers& answers_;
  const SliceLanes& lanes_;
  std::size_t requests_;
  bool details_;
  Cast cast_;
  std::vector<DrawnTree> trees_;
  std::map<u32, std::size_t> file_codes_;
  std::vector<u32> files_;
};

}  // namespace

// First without the details of turns, then with ever fewer slices and requests.
DrawnData draw_data(const ReportAnswers& answers, u64 largest) {
  auto lanes = answers.lanes.lanes();
  DrawnData drawn{.has_details = true, .requests = answers.requests.requests.size()};
  constexpr unsigned most_tries = 20;
  for (unsigned i = 0; i < most_tries; ++i) {
    drawn.packed = TraceData{answers, lanes, drawn}.pack();
    if (drawn.packed.size() <= largest) break;
    if (!drawn.has_details) {
      lanes.coarsen(lanes.slices() / 2);
      drawn.requests /= 2;
    }
    drawn.has_details = false;
  }
  drawn.grid = lanes.grid();
  drawn.slices = lanes.slices();
  return drawn;
}

}  // namespace coldtrace::cli
