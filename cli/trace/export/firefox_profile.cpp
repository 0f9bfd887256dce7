#include "cli/trace/export/firefox_profile.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/thread_names.hpp"

namespace coldtrace::cli {

using trace_analysis::CallTree;
using trace_analysis::CodeNames;
using trace_analysis::Frame;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_export::ThreadSample;
using trace_export::Turn;

namespace {

constexpr u32 processed_version = 60;
constexpr u32 gecko_version = 36;
constexpr u32 library_resource = 1;
constexpr u32 interval_marker = 1;

enum Category : u32 { other, kernel, user, interrupts, waits };

// "0x1f2a0" behind the name of an image, where no symbol is known.
std::optional<u64> offset_in(std::string_view name) {
  const auto plus = name.rfind("+0x");
  if (plus == std::string_view::npos) return std::nullopt;
  u64 offset = 0;
  const auto* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + plus + 3, end, offset, 16);
  if (error != std::errc{} || at != end) return std::nullopt;
  return offset;
}

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('\\') + 1);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.rbegin(), end.rend(), text.rbegin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
         });
}

// Drivers, and the files that the kernel and its abstraction of the hardware are in.
bool is_kernel(std::string_view path) {
  const auto file = file_of(path);
  if (ends_with(file, ".sys")) return true;
  for (const auto* const name : {"ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "ntkrpamp.exe",
                                 "hal.dll", "halmacpi.dll", "halacpi.dll"})
    if (ends_with(file, name)) return true;
  return false;
}

}  // namespace

void FirefoxProfile::add_marker(Index thread, Marker marker) {
  if (thread == nobody) return;
  if (marker.begin < 0)
    ++begun_before_;
  else if (has_room())
    threads_[thread].markers.push_back(std::move(marker));
}

bool FirefoxProfile::has_room() {
  if (kept_ == most_kept) {
    ++left_out_;
    return false;
  }
  ++kept_;
  return true;
}

// Before a turn of the thread.
void FirefoxProfile::add_wait(const Turn& turn) {
  if (turn.before != trace_analysis::Before::waiting || !turn.left || !turn.readied) return;
  add_marker(turn.thread, {names_.nanoseconds(*turn.left), names_.nanoseconds(*turn.readied),
                           Wait{turn.wait_reason, turn.waker, turn.woken_in_dpc}});
}

void FirefoxProfile::on_switch(const trace_export::ContextSwitch& record, const Turn* ended,
                               bool is_shown) {
  const auto cpu = *record.moment.cpu;
  if (cpu >= was_shown_.size()) was_shown_.resize(std::size_t{cpu} + 1);
  const bool was_shown = was_shown_[cpu];
  was_shown_[cpu] = is_shown;
  if (!was_shown || ended == nullptr) return;
  if (names_.population().threads()[ended->thread].idle_of) return;
  add_wait(*ended);
  if (ended->end && has_room())
    threads_[ended->thread].stays.push_back(
        {names_.nanoseconds(ended->begin), names_.nanoseconds(*ended->end)});
}

void FirefoxProfile::on_last_turn(const Turn& turn, bool) {
  if (!names_.population().threads()[turn.thread].idle_of) add_wait(turn);
}

void FirefoxProfile::on_call(const trace_export::Services::Seen& seen) {
  add_marker(seen.thread, {names_.nanoseconds(seen.begin), names_.nanoseconds(seen.end.time),
                           Call{seen.service}});
}

void FirefoxProfile::on_disk_request(const trace_export::DiskRequest& request) {
  if (!request.begin) return;
  add_marker(request.thread,
             {names_.nanoseconds(*request.begin), names_.nanoseconds(request.end.time),
              Disk{request.action, request.disk, request.bytes}});
}

void FirefoxProfile::on_file_operation(const trace_export::FileOperation& operation) {
  add_marker(operation.thread,
             {names_.nanoseconds(operation.begin), names_.nanoseconds(operation.end.time),
              File{operation.action, operation.file, operation.bytes, operation.status}});
}

void FirefoxProfile::on_region(const trace_export::Region& region) {
  add_marker(region.thread,
             {names_.nanoseconds(region.begin), names_.nanoseconds(region.end.time), region});
}

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
        nodes_{samples.tree().nodes()},
        code_{code},
        labels_{labels} {}

  void write() {
    number_frames();
    json_.begin_object();
    write_meta();
    write_libs();
    json_.key("pages").begin_array().end_array().key("counters").begin_array().end_array();
    json_.key("threads").begin_array();
    std::map<Index, bool> all;
    for (const auto& [thread, of_thread] : profile_.threads_) all[thread] = true;
    for (const auto& [thread, of_thread] : samples_.threads()) all[thread] = true;
    for (const auto& [thread, known] : all)
      if (thread == nobody || is_shown(thread)) write_thread(thread);
    json_.end_array();
    write_shared();
    json_.end_object().end_document();
  }

 private:
  bool is_shown(Index thread) const {
    return !names_.population().threads()[thread].idle_of &&
           (!profile_.is_shown_ || profile_.is_shown_(thread));
  }

  u32 text(const std::string& text) {
    const auto [place, added] = text_numbers_.try_emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return place->second;
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

  // A frame and a function for each thing that paths name; a stack for each node below a thread.
  void number_frames() {
    std::map<std::pair<Frame::Kind, u32>, u32> known;
    stack_numbers_.resize(nodes_.size());
    for (u32 i = 1; i < nodes_.size(); ++i) {
      if (nodes_[i].parent == 0) continue;
      const auto& frame = nodes_[i].frame;
      const auto [place, added] = known.try_emplace({frame.kind, frame.value}, frames_.size());
      if (added) add_frame(frame);
      const auto prefix = nodes_[nodes_[i].parent].parent == 0
                              ? std::nullopt
                              : std::optional{*stack_numbers_[nodes_[i].parent]};
      stack_numbers_[i] = static_cast<u32>(stacks_.size());
      stacks_.push_back({place->second, prefix});
    }
    running_ = static_cast<u32>(stacks_.size());
    stacks_.push_back({static_cast<u32>(frames_.size()), std::nullopt});
    frames_.push_back({text("[running]"), Category::other, -1, -1});
  }

  void add_frame(const Frame& frame) {
    FrameRow row{text(labels_.label(frame, ", ")), Category::other, -1, -1};
    if (frame.kind == Frame::Kind::function) {
      const auto& function = code_.functions()[frame.value];
      if (function.module != CodeNames::no_module) {
        row.category =
            is_kernel(code_.modules()[function.module]) ? Category::kernel : Category::user;
        row.resource = static_cast<i64>(resource_of(function.module));
        if (const auto offset = offset_in(function.name)) row.address = static_cast<i64>(*offset);
      }
    }
    frames_.push_back(row);
  }

  u32 resource_of(u32 module) {
    const auto [place, added] = resource_numbers_.try_emplace(module, resources_.size());
    if (!added) return place->second;
    Resource resource{text(printable(file_of(code_.modules()[module]))), std::nullopt};
    const auto& files = trace_.names().image_files();
    for (u32 i = 0; i < files.size() && !resource.lib; ++i)
      if (files[i].name == code_.modules()[module]) {
        resource.lib = static_cast<u32>(libs_.size());
        libs_.push_back(i);
      }
    resources_.push_back(resource);
    return place->second;
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
        .field("symbolicated", libs_.empty())
        .field("usesOnlyOneStackType", true)
        .field("sourceCodeIsNotOnSearchfox", true)
        .key("sampleUnits");
    json_.object("time", "ms", "eventDelay", "ms", "threadCPUDelta", "µs");
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

  void write_libs() {
    json_.key("libs").begin_array();
    for (const auto number : libs_) {
      const auto& image = trace_.names().image_files()[number];
      std::string debug_id, code_id;
      if (image.pdb_guid != core::Guid{}) {
        for (const auto c : core::to_string(image.pdb_guid))
          if (c != '-' && c != '{' && c != '}')
            debug_id += c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c;
        debug_id += fmt::format("{:X}", image.pdb_age);
      }
      if (image.known())
        code_id = fmt::format("{:08X}{:x}", image.time_date_stamp, image.size_of_image);
      const auto name = printable(file_of(image.name));
      const auto pdb = image.pdb_name.empty() ? name : printable(file_of(image.pdb_name));
      json_.object("arch", "", "name", name, "path", printable(image.name), "debugName", pdb,
                   "debugPath", printable(image.pdb_name), "breakpadId", debug_id, "codeId",
                   text_or_null(code_id));
    }
    json_.end_array();
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
    for (const auto& one : samples) json_.value(stack_numbers_[one.node]);
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
        json_.value(one.ran ? std::optional{nanoseconds(*one.ran) / 1000} : std::nullopt);
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
      json_.value(is_end ? std::optional{running_} : std::nullopt);
    });
    json_.key("time");
    each([&](const Stay& one, bool is_end) { milliseconds(is_end ? one.end : one.begin); });
    json_.key("weight");
    each([&](const Stay& one, bool is_end) { milliseconds(is_end ? one.end - one.begin : 0); });
    json_.field("weightType", "tracing-ms").key("threadCPUDelta");
    each([&](const Stay& one, bool is_end) {
      json_.value(is_end ? (one.end - one.begin) / 1000 : i64{0});
    });
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
    column("name", [&](const Marker& one) { json_.value(text(name_of(one))); });
    column("startTime", [&](const Marker& one) { milliseconds(one.begin); });
    column("endTime", [&](const Marker& one) { milliseconds(one.end); });
    column("phase", [&](const Marker&) { json_.value(interval_marker); });
    column("category", [&](const Marker& one) {
      json_.value(u32{std::holds_alternative<Wait>(one.what) ? Category::waits : Category::other});
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
    json_.field("status", fmt::format("{:#010x}", file.status));
  }
  void write_data(const trace_export::Region& region) {
    std::string fields;
    for (const auto& one : region.arguments)
      fields += fmt::format("{}{}={}", fields.empty() ? "" : ", ", one.name, one.value);
    json_.field("type", "Region").field("provider", region.provider).field("fields", fields);
  }

  template <class Rows, class Write>
  void write_column(const char* name, const Rows& rows, Write write) {
    json_.key(std::string_view{name}).begin_array();
    for (const auto& row : rows) write(row);
    json_.end_array();
  }

  void write_shared() {
    const auto nulls = [&](const auto&) { json_.value(nullptr); };
    json_.key("shared").begin_object();
    json_.key("funcTable").begin_object().field("length", frames_.size());
    write_column("name", frames_, [&](const FrameRow& one) { json_.value(one.name); });
    write_column("isJS", frames_, [&](const FrameRow&) { json_.value(false); });
    write_column("relevantForJS", frames_, [&](const FrameRow&) { json_.value(false); });
    write_column("resource", frames_, [&](const FrameRow& one) { json_.value(one.resource); });
    write_column("source", frames_, nulls);
    write_column("lineNumber", frames_, nulls);
    write_column("columnNumber", frames_, nulls);
    json_.end_object().key("frameTable").begin_object().field("length", frames_.size());
    write_column("address", frames_, [&](const FrameRow& one) { json_.value(one.address); });
    write_column("inlineDepth", frames_, [&](const FrameRow&) { json_.value(0); });
    write_column("category", frames_, [&](const FrameRow& one) { json_.value(u32{one.category}); });
    write_column("subcategory", frames_, [&](const FrameRow&) { json_.value(0); });
    u32 number = 0;
    write_column("func", frames_, [&](const FrameRow&) { json_.value(number++); });
    write_column("nativeSymbol", frames_, nulls);
    write_column("innerWindowID", frames_, [&](const FrameRow&) { json_.value(0); });
    write_column("line", frames_, nulls);
    write_column("column", frames_, nulls);
    json_.end_object().key("stackTable").begin_object().field("length", stacks_.size());
    write_column("frame", stacks_, [&](const StackRow& one) { json_.value(one.frame); });
    write_column("prefix", stacks_, [&](const StackRow& one) { json_.value(one.prefix); });
    json_.end_object().key("resourceTable").begin_object().field("length", resources_.size());
    write_column("lib", resources_, [&](const Resource& one) { json_.value(one.lib); });
    write_column("name", resources_, [&](const Resource& one) { json_.value(one.name); });
    write_column("host", resources_, nulls);
    write_column("type", resources_, [&](const Resource&) { json_.value(library_resource); });
    json_.end_object().key("nativeSymbols").begin_object().field("length", 0);
    for (const auto* const name : {"libIndex", "address", "name", "functionSize"})
      json_.key(std::string_view{name}).begin_array().end_array();
    json_.end_object().key("sources").begin_object().field("length", 0);
    for (const auto* const name : {"uuid", "filename"})
      json_.key(std::string_view{name}).begin_array().end_array();
    json_.end_object().key("stringArray").begin_array();
    for (const auto& one : texts_) json_.value(std::string_view{one});
    json_.end_array().end_object();
  }

  struct FrameRow {
    u32 name;
    Category category;
    i64 address, resource;
  };
  struct StackRow {
    u32 frame;
    std::optional<u32> prefix;
  };
  struct Resource {
    u32 name;
    std::optional<u32> lib;
  };

  JsonWriter json_;
  FirefoxProfile& profile_;
  const ExportNames& names_;
  const tracefile::AnyTrace& trace_;
  const trace_export::SampledThreads& samples_;
  const std::vector<CallTree::Node>& nodes_;
  const CodeNames& code_;
  const StackLabels& labels_;
  std::vector<FrameRow> frames_;
  std::vector<StackRow> stacks_;
  std::vector<std::optional<u32>> stack_numbers_;  // by node
  u32 running_ = 0;                                // a stack
  std::vector<Resource> resources_;
  std::map<u32, u32> resource_numbers_;  // by module
  std::vector<u32> libs_;                // numbers of image files
  std::vector<std::string> texts_;
  std::map<std::string, u32> text_numbers_;
};

void FirefoxProfile::write(Output& output, const tracefile::AnyTrace& trace,
                           const trace_export::SampledThreads& samples, const CodeNames& code,
                           const StackLabels& labels) {
  Writer{output, *this, trace, samples, code, labels}.write();
}

}  // namespace coldtrace::cli
