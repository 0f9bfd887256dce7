#include <algorithm>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/export/firefox_profile.hpp"
#include "cli/trace/export/firefox_tables.hpp"
#include "cli/trace/status.hpp"

namespace coldtrace::cli {

using trace_analysis::CodeNames;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_export::ThreadSample;

namespace {

constexpr u32 processed_version = 60;
constexpr u32 gecko_version = 36;
constexpr u32 interval_marker = 1;

}  // namespace

class FirefoxProfile::Writer {
 public:
  Writer(Output& output, FirefoxProfile& profile, const tracefile::AnyTrace& trace,
         const trace_export::SampledThreads& samples, const CodeNames& code,
         const StackLabels& labels)
      : json_{output, Int64::number},
        profile_{profile},
        names_{profile.names_},
        trace_{trace},
        samples_{samples},
        tables_{trace, samples.tree().nodes(), code, labels} {}

  void write() {
    json_.begin_object();
    write_meta();
    tables_.write_libs(json_);
    json_.key("pages").begin_array().end_array().key("counters").begin_array().end_array();
    json_.key("threads").begin_array();
    std::map<Index, bool> all;
    for (const auto& [thread, of_thread] : profile_.threads_) all[thread] = true;
    for (const auto& [thread, of_thread] : samples_.threads()) all[thread] = true;
    for (const auto& [thread, known] : all)
      if (thread == nobody || is_shown(thread)) write_thread(thread);
    json_.end_array();
    tables_.write_shared(json_);
    json_.end_object().end_document();
  }

 private:
  bool is_shown(Index thread) const {
    return !names_.population().threads()[thread].idle_of &&
           (!profile_.is_shown_ || profile_.is_shown_(thread));
  }

  void milliseconds(i64 nanoseconds) {
    constexpr i64 in_one = 1'000'000;
    std::vector<core::TextBuffer> pieces(1);
    pieces[0].append(fmt::format("{}{}.{:06}", nanoseconds < 0 ? "-" : "",
                                 std::abs(nanoseconds / in_one), std::abs(nanoseconds % in_one)));
    json_.written(pieces);
  }

  i64 nanoseconds(i64 ticks) const {
    constexpr i64 in_unit = 100;
    return trace_.clock().to_duration(ticks) * in_unit;
  }

  void write_category(std::string_view name, std::string_view color) {
    json_.begin_object()
        .field("name", name)
        .field("color", color)
        .key("subcategories")
        .begin_array()
        .value("Other")
        .end_array()
        .end_object();
  }

  template <class... Fields>
  void write_schema(std::string_view name, std::string_view label, const Fields&... fields) {
    json_.begin_object().field("name", name).key("display").begin_array();
    json_.value("marker-chart").value("marker-table").value("timeline-overview").end_array();
    json_.field("tooltipLabel", label).field("tableLabel", label).key("fields").begin_array();
    (json_.object("key", std::string_view{fields[0]}, "label", std::string_view{fields[1]},
                  "format", std::string_view{fields[2]}),
     ...);
    json_.end_array().end_object();
  }

  i64 first_sample() const {
    const auto& threads = samples_.threads();
    return threads.empty() ? 0 : threads.begin()->second.front().time;
  }

  void write_meta() {
    using Names = const char* const[3];
    const auto interval = trace_.names().sampling_intervals().at(first_sample()).value_or(10'000);
    json_.key("meta").begin_object().key("interval");
    milliseconds(i64{interval} * 100);
    json_.key("startTime");
    milliseconds(names_.start().value_or(0));
    json_.field("processType", 0)
        .field("product", "Windows trace")
        .field("stackwalk", 1)
        .field("version", gecko_version)
        .field("preprocessedProfileVersion", processed_version)
        .field("importedFrom", tool_version)
        .field("symbolicated", !tables_.names_libs())
        .field("usesOnlyOneStackType", true)
        .field("sourceCodeIsNotOnSearchfox", true)
        .key("sampleUnits");
    json_.object("time", "ms", "eventDelay", "ms", "threadCPUDelta", "ns");
    json_.key("categories").begin_array();
    write_category("Other", "grey");
    write_category("Kernel", "orange");
    write_category("User", "yellow");
    write_category("Interrupts", "magenta");
    write_category("Waits", "blue");
    json_.end_array().key("markerSchema").begin_array();
    constexpr Names reason = {"reason", "Reason", "string"};
    constexpr Names by = {"by", "Readied by", "string"};
    constexpr Names kind = {"kind", "Kind", "string"};
    constexpr Names disk = {"disk", "Disk", "integer"};
    constexpr Names bytes = {"bytes", "Bytes", "bytes"};
    constexpr Names file = {"file", "File", "string"};
    constexpr Names status = {"status", "Status", "string"};
    constexpr Names provider = {"provider", "Provider", "string"};
    constexpr Names fields = {"fields", "Fields", "string"};
    write_schema("Wait", "wait: {marker.data.reason}", reason, by);
    write_schema("Call", "{marker.name}", kind);
    write_schema("DiskRequest", "disk {marker.data.disk}: {marker.name}", disk, bytes);
    write_schema("FileOperation", "{marker.name}: {marker.data.file}", file, bytes, status);
    write_schema("Region", "{marker.name}", provider, fields);
    json_.end_array().end_object();
  }

  void write_thread(Index thread) {
    const auto sampled = samples_.threads().find(thread);
    const auto gathered = profile_.threads_.find(thread);
    static const std::vector<ThreadSample> no_samples;
    json_.begin_object().field("processType", "default");
    if (thread == nobody) {
      json_.field("processName", "Interrupts and unknown threads")
          .field("name", "DPCs, ISRs")
          .field("isMainThread", false)
          .field("pid", "interrupts")
          .field("tid", 0);
    } else {
      const auto& known = names_.population().threads()[thread];
      const auto pid = trace_analysis::pid_of(names_.population(), thread);
      auto name = names_.thread_name(thread);
      if (name.empty()) name = fmt::format("thread {}", known.tid);
      json_
          .field("processName", known.process == nobody ? std::string{"unknown process"}
                                                        : names_.process(known.process))
          .field("name", name)
          .field("isMainThread", false)
          .field("pid", pid ? fmt::format("{}", *pid) : std::string{"unknown"})
          .field("tid", known.tid);
    }
    write_life(thread);
    json_.key("pausedRanges").begin_array().end_array();
    if (!samples_.threads().empty())
      write_samples(sampled == samples_.threads().end() ? no_samples : sampled->second);
    else
      write_stays(gathered->second.stays);
    write_markers(gathered == profile_.threads_.end() ? std::vector<Marker>{}
                                                      : std::move(gathered->second.markers));
    json_.end_object();
  }

  void write_life(Index thread) {
    std::optional<i64> start, end;
    if (thread != nobody) {
      const auto& life = names_.population().threads()[thread].life;
      start = life.start;
      end = life.end;
    }
    json_.field("processStartupTime", 0).field("processShutdownTime", nullptr).key("registerTime");
    milliseconds(start ? names_.nanoseconds(*start) : 0);
    json_.key("unregisterTime");
    if (end)
      milliseconds(names_.nanoseconds(*end));
    else
      json_.value(nullptr);
  }

  // Each stands for the time since the sample before it of its processor.
  void write_samples(const std::vector<ThreadSample>& samples) {
    json_.key("samples").begin_object().field("length", samples.size()).key("stack").begin_array();
    for (const auto& one : samples) json_.value(tables_.stack_of(one.node));
    json_.end_array().key("time").begin_array();
    for (const auto& one : samples) milliseconds(names_.nanoseconds(one.time));
    json_.end_array().key("weight").begin_array();
    for (const auto& one : samples) milliseconds(nanoseconds(one.weight));
    json_.end_array().field("weightType", "tracing-ms").key("threadCPUDelta");
    const bool has_clock = std::any_of(samples.begin(), samples.end(),
                                       [](const ThreadSample& one) { return one.ran.has_value(); });
    if (!has_clock) {
      json_.value(nullptr);
    } else {
      json_.begin_array();
      for (const auto& one : samples)
        json_.value(one.ran ? std::optional{nanoseconds(*one.ran)} : std::nullopt);
      json_.end_array();
    }
    json_.end_object();
  }

  // A sample where each turn ends, which stands for the turn, and one without a stack where it
  // begins.
  void write_stays(const std::vector<Stay>& stays) {
    const auto each = [&](auto write) {
      json_.begin_array();
      for (const auto& one : stays) {
        write(one, false);
        write(one, true);
      }
      json_.end_array();
    };
    json_.key("samples").begin_object().field("length", stays.size() * 2).key("stack");
    each([&](const Stay&, bool is_end) {
      json_.value(is_end ? std::optional{tables_.running()} : std::nullopt);
    });
    json_.key("time");
    each([&](const Stay& one, bool is_end) { milliseconds(is_end ? one.end : one.begin); });
    json_.key("weight");
    each([&](const Stay& one, bool is_end) { milliseconds(is_end ? one.end - one.begin : 0); });
    json_.field("weightType", "tracing-ms").key("threadCPUDelta");
    each([&](const Stay& one, bool is_end) { json_.value(is_end ? one.end - one.begin : i64{0}); });
    json_.end_object();
  }

  void write_markers(std::vector<Marker> markers) {
    std::stable_sort(markers.begin(), markers.end(),
                     [](const Marker& a, const Marker& b) { return a.begin < b.begin; });
    const auto column = [&](const char* name, auto write) {
      json_.key(std::string_view{name}).begin_array();
      for (const auto& one : markers) write(one);
      json_.end_array();
    };
    json_.key("markers").begin_object().field("length", markers.size());
    column("name", [&](const Marker& one) { json_.value(tables_.text(name_of(one))); });
    column("startTime", [&](const Marker& one) { milliseconds(one.begin); });
    column("endTime", [&](const Marker& one) { milliseconds(one.end); });
    column("phase", [&](const Marker&) { json_.value(interval_marker); });
    column("category", [&](const Marker& one) {
      json_.value(static_cast<u32>(std::holds_alternative<Wait>(one.what)
                                       ? FirefoxCategory::waits
                                       : FirefoxCategory::other));
    });
    column("data", [&](const Marker& one) {
      json_.begin_object();
      std::visit([&](const auto& what) { write_data(what); }, one.what);
      json_.end_object();
    });
    json_.end_object();
  }

  std::string name_of(const Marker& marker) const {
    if (const auto* const call = std::get_if<Call>(&marker.what))
      return names_.service(call->service);
    if (const auto* const disk = std::get_if<Disk>(&marker.what))
      return std::string{to_string(disk->action)};
    if (const auto* const file = std::get_if<File>(&marker.what))
      return std::string{to_string(file->action)};
    if (const auto* const region = std::get_if<trace_export::Region>(&marker.what))
      return region->name.empty() ? region->provider : region->name;
    return "Wait";
  }

  void write_data(const Wait& wait) {
    json_.field("type", "Wait")
        .field("reason", wait.reason ? wait_reason_text(*wait.reason) : std::string{"unknown"});
    if (wait.in_dpc)
      json_.field("by", "an interrupt");
    else if (wait.waker != nobody)
      json_.field("by", names_.thread_of_process(wait.waker));
  }
  void write_data(const Call& call) {
    json_.field("type", "Call").field("kind", to_string(names_.kind_of(call.service)));
  }
  void write_data(const Disk& disk) {
    json_.field("type", "DiskRequest");
    if (disk.disk) json_.field("disk", *disk.disk);
    if (disk.bytes) json_.field("bytes", *disk.bytes);
  }
  void write_data(const File& file) {
    json_.field("type", "FileOperation").field("file", names_.file(file.file));
    if (file.bytes) json_.field("bytes", *file.bytes);
    json_.field("status", nt_status_text(file.status));
  }
  void write_data(const trace_export::Region& region) {
    std::string fields;
    for (const auto& one : region.arguments)
      fields += fmt::format("{}{}={}", fields.empty() ? "" : ", ", one.name, one.value);
    json_.field("type", "Region").field("provider", region.provider).field("fields", fields);
  }

  JsonWriter json_;
  FirefoxProfile& profile_;
  const ExportNames& names_;
  const tracefile::AnyTrace& trace_;
  const trace_export::SampledThreads& samples_;
  FirefoxTables tables_;
};

void FirefoxProfile::write(Output& output, const tracefile::AnyTrace& trace,
                           const trace_export::SampledThreads& samples, const CodeNames& code,
                           const StackLabels& labels) {
  Writer{output, *this, trace, samples, code, labels}.write();
}

}  // namespace coldtrace::cli
