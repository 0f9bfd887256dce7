#include <tuple>

#include <fmt/format.h>

#include "cli/trace/lines/event_times.hpp"
#include "cli/trace/trace_input.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/tracefile/names/version_text.hpp"

namespace coldtrace::cli {
namespace {

std::optional<std::string> time_or_null(core::FileTime time) {
  if (time.ticks == 0) return std::nullopt;
  return core::to_string(time);
}

// The identity of contracts: what a trace has no room for is null.
void write_image(JsonWriter& json, const tracefile::TracedImage& image) {
  if (!image.known()) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("name", text_or_null(image.name))
      .field("machine", pe::to_string(static_cast<pe::Machine>(image.machine)))
      .field("file_version", tracefile::find_version_text(image.file_version))
      .field("time_date_stamp", image.time_date_stamp)
      .field("size_of_image", image.size_of_image)
      .field("checksum", image.checksum)
      .key("pdb");
  if (image.pdb_guid == core::Guid{}) {
    json.value(nullptr);
  } else {
    json.begin_object()
        .field("name", text_or_null(image.pdb_name))
        .field("guid", core::to_string(image.pdb_guid))
        .field("age", image.pdb_age)
        .end_object();
  }
  json.field("sha256", nullptr).field("wine", nullptr).end_object();
}

}  // namespace

void write_session(JsonWriter& json, const tracefile::Ctrace& trace,
                   const tracefile::CtracePart& part) {
  using tracefile::CtraceHeader;
  const auto& [header, scan] = std::tie(part.header, part.scan);
  json.begin_object()
      .field("session", core::to_string(header.session))
      .field("start_time", time_or_null(header.start_time))
      .field("boot_time", time_or_null(header.boot_time));
  write_event_times(json, find_event_times(trace, part));
  json.field("boot_id", header.boot_id == 0 ? std::nullopt : std::optional{header.boot_id})
      .field("boot_trace", (header.flags & CtraceHeader::boot_trace) != 0)
      .field("wrap_around", (header.flags & CtraceHeader::wrap_around) != 0)
      .field("closed", scan.closed)
      .field("windows_version", tracefile::find_version_text(header.windows_version))
      .field("processors", header.processors)
      .field("pointer_size", header.pointer_size)
      .field("buffers", scan.buffers.size())
      .field("buffers_missing", scan.missing)
      .field("events", scan.events)
      .field("events_lost", scan.lost)
      .field("uncommitted", scan.uncommitted);
  json.key("kernel");
  write_image(json, header.kernel);
  json.key("ntdll");
  write_image(json, header.ntdll);
  json.key("schemas").begin_array();
  for (const auto& schema : trace.declarations())
    json.begin_object()
        .field("name", schema.name)
        .field("guid", core::to_string(schema.guid))
        .field("events", schema.events.size())
        .end_object();
  json.end_array()
      .key("clock")
      .begin_object()
      .field("type", to_string(header.clock))
      .field("frequency", header.frequency)
      .field("time_resolution", header.time_resolution)
      .field("pairs", part.pairs)
      .field("error_bound", trace.error_bound())
      .end_object();
  json.end_object();
}

}  // namespace coldtrace::cli
