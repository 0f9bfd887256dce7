#pragma once

#include "cli/trace/trace_fields.hpp"
#include "coldtrace/tracefile/extended_data.hpp"
#include "coldtrace/tracefile/trace.hpp"

namespace coldtrace::cli {

enum class TraceFormat : u8 { ndjson, json, csv };

// What the columns of CSV are.
constexpr std::string_view trace_csv_header =
    "type,time,timestamp,cpu,pid,tid,process,provider_guid,provider,name,id,opcode,version,level,"
    "keywords,activity,decoded,fields,details\n";

// What the lines of a trace of any format are made with.
struct TraceContext {
  const tracefile::Clock& clock;
  const tracefile::NameTables& names;
  const tracefile::SchemaSource& schemas;
  const SystemCallNames* calls = nullptr;
  std::optional<tracefile::KernelVersion>
      windows;  // that the checks of NtTraceControl are known of
};

struct TraceLineOptions {
  TraceFormat format = TraceFormat::ndjson;
  Int64 int64 = Int64::number;
  bool header_fields = false;  // also the header fields that few need
};

// Writes events and gaps of one trace as lines and counts how they decoded. One object a thread.
class TraceLines {
 public:
  TraceLines(const TraceContext& context, const TraceLineOptions& options);

  void append_event(core::TextBuffer& text, const tracefile::Event& event);
  void append_gap(core::TextBuffer& text, const tracefile::Gap& gap);

  const tracefile::KindCounter& counter() const { return counter_; }
  // Events that lost names or fields, which would have been out of all proportion to them.
  u64 cut_names() const { return cut_names_; }

 private:
  // What does not change from event to event, already in JSON.
  struct KindText {
    std::string provider;  // "provider":{...},"name":...,"id":...
    bool ready = false;
    bool cut = false;
  };
  struct ProcessText {
    std::optional<u32> pid;
    std::string_view name;
    std::string json;
  };

  void append_json_event(core::TextBuffer& text, const tracefile::Event& event,
                         const tracefile::EventKind& kind);
  void append_csv_event(core::TextBuffer& text, const tracefile::Event& event,
                        const tracefile::EventKind& kind);
  // `place` are the members of the object that says what is missing where.
  void append_csv_gap(core::TextBuffer& text, const tracefile::Gap& gap, std::string_view place);
  tracefile::Decoded append_payload(core::TextBuffer& json, const tracefile::Event& event,
                                    const tracefile::EventKind& kind);
  void append_details(core::TextBuffer& json, const tracefile::Event& event);
  void append_extended(core::TextBuffer& json, const tracefile::Event& event);
  void append_etw_event(core::TextBuffer& json, const tracefile::Event& event);
  void append_header_fields(core::TextBuffer& json, const tracefile::Event& event);
  void append_stack(core::TextBuffer& json) const;
  std::optional<core::FileTime> time_of(const tracefile::Event& event) const;
  std::optional<core::FileTime> time_of(const tracefile::Gap& gap) const;
  void append_times(core::TextBuffer& json, std::optional<core::FileTime> time,
                    std::optional<i64> timestamp);
  void append_process(core::TextBuffer& json, const tracefile::Event& event);
  const std::string& kind_text(const tracefile::EventKind& kind);
  // The name of a process, provider or event, or nothing when it is longer than names are.
  std::string_view shown(std::string_view name);

  TraceContext trace_;
  TraceLineOptions options_;
  tracefile::EventDecoder decoder_;
  TraceFields fields_;
  TraceFields etw_fields_;
  tracefile::KindCounter counter_;
  u64 cut_names_ = 0;
  bool cut_ = false;  // the event's own
  core::FileTimeFormatter times_;
  std::vector<KindText> kind_texts_;
  ProcessText process_;
  core::TextBuffer scratch_;
  core::TextBuffer details_;
  tracefile::EventStack stack_;
};

}  // namespace coldtrace::cli
