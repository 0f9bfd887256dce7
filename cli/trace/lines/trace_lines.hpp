#pragma once

#include "cli/command/parsed_json.hpp"
#include "cli/trace/lines/chosen_members.hpp"
#include "cli/trace/lines/trace_fields.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"
#include "coldtrace/tracefile/messages/event_message.hpp"
#include "coldtrace/tracefile/names/message_pdb.hpp"
#include "coldtrace/tracefile/providers/extended_members.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::cli {

enum class TraceFormat : u8 { ndjson, json, csv, text };

// The header of CSV; with several files there is one more column.
std::string trace_csv_header(bool has_several_files);

// What is needed to make the lines of a trace in any format.
struct TraceContext : tracefile::EventContext {
  const SystemCallNames* calls = nullptr;
  trace_analysis::FunctionNames* functions = nullptr;  // from symbol files; null: none
  std::optional<tracefile::KernelVersion> windows;     // whose checks of NtTraceControl are known
  // The PDB with the texts of all WPP messages; null if the trace names none, or several.
  const tracefile::MessagePdb* message_pdb = nullptr;
  const privacy::HashedNames* hashed = nullptr;      // null: names are not hashed
  const privacy::SealingKey* sealing_key = nullptr;  // null: encrypted fields stay so
};

struct TraceLineOptions {
  TraceFormat format = TraceFormat::ndjson;
  Int64 int64 = Int64::number;
  bool header_fields = false;                          // also the rarely needed header fields
  bool schema_files = false;                           // also the file of each event's schema
  bool messages = false;                               // also the provider's message for the event
  bool frames = false;                                 // stacks as objects that locate each address
  std::optional<ChosenMembers> chosen = std::nullopt;  // instead of whole lines
};

// Writes events and gaps of one trace as lines and counts how they decoded. One object per thread.
class TraceLines {
 public:
  TraceLines(const TraceContext& context, const TraceLineOptions& options);

  // `stack` is the event's stack from other events; may be null.
  void append_event(core::TextBuffer& text, const tracefile::Event& event,
                    const tracefile::AttachedStack* stack = nullptr);
  void append_gap(core::TextBuffer& text, const tracefile::Gap& gap);

  const tracefile::KindCounter& counter() const { return counter_; }
  // The number of events that lost names or fields, which would have been out of all proportion.
  u64 cut_names() const { return cut_names_; }
  // The number of events decoded by another schema than the preferred one.
  u64 other_schemas() const { return other_schemas_; }
  // The number of encrypted fields that the key does not decrypt.
  u64 still_sealed() const { return fields_.still_sealed(); }

 private:
  // The header of the last event of a kind.
  struct HeaderText {
    bool ready = false;
    u8 opcode = 0, version = 0, level = 0;
    u64 keywords = 0;
    std::string json;

    bool is_of(const tracefile::Event& event) const {
      return ready && opcode == event.opcode && version == event.version && level == event.level &&
             keywords == event.keywords;
    }
  };
  // What is the same in all events of a kind, already in JSON.
  struct KindText {
    std::string provider;  // "provider":{...},"name":...,"id":...
    bool ready = false;
    bool cut = false;
    HeaderText header;
    std::array<std::unique_ptr<FixedFieldsText>, 2> fixed;  // for 32 and 64 bits
  };
  // The names of the numbers in the header of the last event of each kind: mostly the next one has
  // the same numbers.
  struct HeaderNames {
    bool ready = false;
    u8 level = 0, opcode = 0, channel = 0;
    u16 task = 0;
    u64 keywords = 0;
    std::string json;

    bool is_of(const tracefile::Event& event) const {
      return ready && level == event.level && opcode == event.opcode && channel == event.channel &&
             task == event.task && keywords == event.keywords;
    }
  };
  struct ProcessText {
    std::optional<u32> pid;
    i64 from = 0, to = 0;  // never
    std::string json;
  };

  void append_chosen(core::TextBuffer& text) const;
  // ,"file":"..." if there are several files.
  void append_file(core::TextBuffer& json, u16 file) const;
  void append_json_event(core::TextBuffer& text, const tracefile::Event& event,
                         const tracefile::EventKind& kind);
  void append_json_gap(core::TextBuffer& text, const tracefile::Gap& gap, std::string_view place);
  void append_csv_event(core::TextBuffer& text, const tracefile::Event& event,
                        const tracefile::EventKind& kind);
  // `place` has the members of the object that says what is missing where.
  void append_csv_gap(core::TextBuffer& text, const tracefile::Gap& gap, std::string_view place);
  void end_csv(core::TextBuffer& text, u16 file) const;
  tracefile::Decoded append_payload(core::TextBuffer& json, const tracefile::Event& event,
                                    const tracefile::EventKind& kind);
  void append_details(core::TextBuffer& json, const tracefile::Event& event,
                      const tracefile::EventKind& kind);
  void append_header_names(core::TextBuffer& json, const tracefile::Event& event,
                           const tracefile::EventKind& kind);
  std::string make_header_names(const tracefile::Event& event,
                                const tracefile::ProviderNames& names);
  // `schema` is the one by which the event was decoded, or null.
  void append_schema_file(core::TextBuffer& json, const tracefile::EventSchema* schema,
                          const tracefile::EventKind& kind);
  void append_message(core::TextBuffer& json, const tracefile::EventSchema* schema,
                      const tracefile::Event& event);
  // What the format of a WPP message says besides its text, or else which PDB has it.
  void append_trace_message(core::TextBuffer& json, const tracefile::EventSchema* schema,
                            const tracefile::EventKind& kind) const;
  void append_extended(core::TextBuffer& json, const tracefile::Event& event);
  void append_etw_event(core::TextBuffer& json, const tracefile::Event& event);
  void append_header_fields(core::TextBuffer& json, const tracefile::Event& event);
  void append_stack(core::TextBuffer& json) const;
  void append_frames(core::TextBuffer& json, const tracefile::Event& event);
  void resolve_stack(const tracefile::Event& event);
  std::optional<core::FileTime> time_of(const tracefile::Gap& gap) const;
  void append_times(core::TextBuffer& json, std::optional<core::FileTime> time,
                    std::optional<i64> timestamp);
  void append_process(core::TextBuffer& json, const tracefile::Event& event);
  KindText& texts_of(const tracefile::EventKind& kind);
  const std::string& kind_text(const tracefile::EventKind& kind);
  const std::string& header_text(const tracefile::Event& event, const tracefile::EventKind& kind);
  const FixedFieldsText* fixed_text(const tracefile::EventKind& kind, u8 pointer_size);
  // The name of a process, provider or event, or nothing if it is too long for a name.
  std::string_view shown(std::string_view name);

  TraceContext trace_;
  TraceLineOptions options_;
  tracefile::EventDecoder decoder_;
  FrameNames frames_;
  TraceFields fields_;
  TraceFields etw_fields_;
  tracefile::EventMessage message_;
  std::vector<tracefile::ExtendedMember> extended_;  // of the current event
  tracefile::KindCounter counter_;
  u64 cut_names_ = 0;
  u64 other_schemas_ = 0;
  bool cut_ = false;  // the event's own
  core::FileTimeFormatter times_;
  std::vector<KindText> kind_texts_;
  std::vector<HeaderNames> header_names_;  // by number of kind
  ProcessText process_;
  core::TextBuffer scratch_;
  core::TextBuffer details_;
  core::TextBuffer whole_;  // line from which members are chosen, or text is made
  ParsedJson json_;         // of that text
  tracefile::EventStack stack_;
  const tracefile::AttachedStack* attached_ = nullptr;  // to the event
};

}  // namespace coldtrace::cli
