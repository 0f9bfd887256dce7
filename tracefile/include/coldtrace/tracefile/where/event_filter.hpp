#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/messages/event_message.hpp"
#include "coldtrace/tracefile/names/event_stack.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"
#include "coldtrace/tracefile/providers/extended_members.hpp"
#include "coldtrace/tracefile/where/event_lines.hpp"
#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::tracefile {

class AnyTrace;

// What is needed to understand events of a trace.
struct EventContext {
  core::Borrowed<SchemaSource> schemas;
  core::Borrowed<NameTables> names;
  core::Borrowed<Clock> clock;
  std::optional<core::FileTime> start;       // of the session
  std::vector<std::string> files = {};       // names, by Event::file; none for a single file
  const MessageTexts* parameters = nullptr;  // of "%%n" in messages; null: none are known
  const AnyTrace* trace = nullptr;           // of the events; null: of no file
};

// Whether events match an expression. What all events of a kind have in common is decided once per
// kind, the members of headers come next, and only what is then still open decodes a payload, up to
// the last field that is needed; whole lines are made last. One object per thread.
class EventFilter {
 public:
  // All that is given must outlive the filter.
  EventFilter(const EventContext& context, core::Borrowed<WhereExpression> where);

  // `attached` is the stack that other events supply for the event, or null.
  bool wants(const Event& event, const AttachedStack* attached = nullptr);

  // What no event had, once all were seen: fields that are in no schema of theirs, and fields that
  // never had the type that they are compared with, each once. `option` is the one with the
  // expression. False if there is nothing to report.
  bool report(core::NoMatch& unmatched, std::string_view option) const;

 private:
  class Fields;

  // A field of a kind that a test asks for.
  struct Use {
    const FieldSchema* field;
    std::size_t test;
  };
  struct Plan {
    bool ready = false;
    Truth verdict = Truth::unknown;
    std::vector<Truth> truths;  // by test
    std::vector<Use> uses;
    std::vector<std::size_t> beside;  // tests of what lines have beside fields: their bytes
    const FieldSchema* last =
        nullptr;  // of the schema's own fields: what follows is not needed; null: all is
  };
  struct Met {
    bool known = false;       // a schema has the field
    bool present = false;     // an event had it
    bool comparable = false;  // and it was of the right type
  };

  const Plan& plan_of(const EventKind& kind);
  void make_plan(const EventKind& kind, Plan& plan);
  void add_uses(const EventSchema& schema, Plan& plan);
  void remember_names(const std::vector<FieldSchema>& fields, unsigned depth);
  std::optional<Truth> truth_of_kind(const WhereTest& test, const EventKind& kind) const;
  Truth truth_of_header(const WhereTest& test, const Event& event);
  Truth truth_of_stack(const WhereTest& test, const Event& event, const AttachedStack* attached);
  Truth truth_of_message(const WhereTest& test, const Event& event, const EventKind& kind);
  Truth truth_of_extended(const WhereTest& test, const Event& event);
  Truth truth_of_line(std::size_t number, const Event& event, const AttachedStack* attached);
  Truth truth_of_words(const WhereTest& test, core::ByteView data) const;
  std::string name_of_frame(std::optional<u32> pid, u64 address, i64 time) const;
  void decode(const Event& event, const EventKind& kind, const Plan& plan);
  Truth truth(const WhereTest& test, const Subject& subject) const;

  EventContext context_;
  const WhereExpression& where_;
  EventDecoder decoder_;
  ValueText texts_;
  EventMessage messages_;
  std::vector<ExtendedMember> extended_;  // of the current event
  bool asks_kind_ = false;
  bool asks_fields_ = false;
  bool asks_decoded_ = false;
  std::unique_ptr<EventLineReader> lines_;  // null: no test needs it
  bool has_line_ = false;                   // of the current event
  std::vector<Truth> unknown_;
  std::vector<Truth> truths_;  // of the current event
  std::vector<Plan> plans_;    // by number of kind
  Plan overflow_;
  std::vector<Met> met_;  // by test
  std::set<std::string, std::less<>> names_;
  EventStack stack_;
};

}  // namespace coldtrace::tracefile
