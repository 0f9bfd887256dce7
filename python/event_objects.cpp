#include "python/event_objects.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "coldtrace/tracefile/messages/event_message.hpp"
#include "coldtrace/tracefile/names/event_stack.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "python/field_objects.hpp"

namespace coldtrace::python {
namespace {

using tracefile::Event;
using tracefile::EventKind;

const Record* event_record = nullptr;
const Record* trace_message_record = nullptr;

// In the order of the record.
enum class Member : u8 {
  time,
  timestamp,
  cpu,
  pid,
  tid,
  process,
  provider,
  provider_guid,
  name,
  id,
  opcode,
  version,
  level,
  keywords,
  activity,
  fields,
  decoded,
  rest,
  stack,
  message,
  trace_message,
  file,
};

// What has to be known of an event besides its header, from the least to the most.
enum class Needs : u8 { header, kind, schema, result, fields };

Needs needs_of(Member member) {
  switch (member) {
    case Member::provider:
    case Member::provider_guid:
    case Member::name:
    case Member::id:
      return Needs::kind;
    case Member::message:
    case Member::trace_message:
      return Needs::schema;
    case Member::decoded:
    case Member::rest:
      return Needs::result;
    case Member::fields:
      return Needs::fields;
    default:
      return Needs::header;
  }
}

Object new_reference(const py::object& object) {
  return py::object{object}.release().ptr();
}

py::object held(Object object) {
  return py::reinterpret_steal<py::object>(object);
}

}  // namespace

std::optional<std::size_t> find_event_member(std::string_view name) {
  return event_record->find(name);
}

class EventObjects::Maker {
 public:
  Maker(const tracefile::EventContext& context, std::vector<std::size_t> members, bool messages)
      : context_{context},
        members_{std::move(members)},
        decoder_{context.schemas},
        fields_{context.clock.get()},
        message_{context.clock, context.parameters} {
    const auto is_asked_for = [&](Member member) {
      return std::ranges::find(members_, static_cast<std::size_t>(member)) != members_.end();
    };
    all_messages_ = messages || is_asked_for(Member::message);
    needs_ = members_.empty() ? Needs::fields : Needs::header;
    for (const auto member : members_)
      needs_ = std::max(needs_, needs_of(static_cast<Member>(member)));
    for (const auto& file : context_.files) files_.push_back(to_str(file));
  }

  Object make_event(const Event& event) {
    event_ = &event;
    read();
    const auto row = members_.empty() ? make_record() : make_tuple();
    dictionary_ = {};
    return row;
  }

  u64 other_schemas() const { return other_schemas_; }
  u64 cut_messages() const { return cut_messages_; }

 private:
  // The objects that all events of a kind share.
  struct KindObjects {
    bool ready = false;
    py::object provider, guid, name, id;
  };

  Object make_record() {
    std::array<Object, Record::most_fields> values;
    for (std::size_t i = 0; i < event_record->size(); ++i)
      values[i] = make_member(static_cast<Member>(i));
    return event_record->make(std::span{values}.first(event_record->size()),
                              Record::Cycles::possible);
  }

  // The garbage collector has to follow the dictionary of fields, which belongs to the caller.
  Object make_tuple() {
    const auto row = tuple_of(
        members_, [&](std::size_t member) { return make_member(static_cast<Member>(member)); });
    if (needs_ == Needs::fields) PyObject_GC_Track(row);
    return row;
  }

  void read() {
    if (needs_ == Needs::header) return;
    kind_ = &decoder_.kind_of(*event_);
    if (needs_ == Needs::kind) return;
    if (needs_ == Needs::fields) {
      fields_.start(*event_, kind_->kept);
      result_ = decoder_.decode(*event_, *kind_, fields_);
      dictionary_ = fields_.finish();
    } else if (needs_ == Needs::result) {
      result_ = decoder_.measure(*event_, *kind_);
    }
    schema_ = decoder_.choose_schema(*event_, *kind_);
    if (schema_ != kind_->schema.get()) ++other_schemas_;
  }

  static KindObjects make_kind(const EventKind& kind) {
    KindObjects objects;
    objects.ready = kind.kept;
    objects.provider = held(text_or_none(kind.provider_name));
    const auto provider = provider_of(kind);
    objects.guid = held(provider ? guid_text(*provider) : none());
    objects.name = held(text_or_none(kind.name));
    objects.id = held(has_id(kind.event_class) ? number(kind.id) : none());
    return objects;
  }

  const KindObjects& kind_objects() {
    if (kind_->number >= kinds_.size()) kinds_.resize(kind_->number + std::size_t{1});
    auto& objects = kinds_[kind_->number];
    if (!objects.ready) objects = make_kind(*kind_);
    return objects;
  }

  Object make_process() const {
    const auto name = event_->pid
                          ? context_.names.get().find_process(*event_->pid, event_->name_time())
                          : std::optional<std::string_view>{};
    return name ? exact_text(*name) : none();
  }

  Object make_rest() const {
    if (result_.decoded == tracefile::Decoded::exact || (kind_->schema && kind_->schema->encrypted))
      return none();
    const auto& payload = event_->payload;
    return bytes(payload.subspan(std::min(result_.consumed, payload.size())));
  }

  Object make_stack() {
    tracefile::find_stack(*event_, context_.names.get().stacks(), stack_);
    return tuple_of(stack_.frames, [](u64 frame) { return number(frame); });
  }

  Object make_message() {
    if (schema_ == nullptr || schema_->message.empty()) return none();
    if (!all_messages_ && !schema_->trace_message) return none();
    const auto message = message_.make(*schema_, *event_);
    if (message_.cut()) ++cut_messages_;
    return text(message);
  }

  static py::object make_trace_message(const tracefile::TraceMessage& message) {
    const std::array values{text_or_none(message.component), text_or_none(message.source_file),
                            text_or_none(message.function), text_or_none(message.level),
                            text_or_none(message.flags)};
    return held(trace_message_record->make(values));
  }

  Object shared_trace_message() {
    if (schema_ == nullptr || !schema_->trace_message) return none();
    const auto& message = *schema_->trace_message;
    if (!kind_->kept) return make_trace_message(message).release().ptr();
    auto& known = trace_messages_[&message];
    if (!known) known = make_trace_message(message);
    return new_reference(known);
  }

  Object make_member(Member member) {
    switch (member) {
      case Member::time: {
        const auto when = tracefile::time_of(*event_, context_.clock);
        return when ? time(*when) : none();
      }
      case Member::timestamp:
        return event_->has_time ? signed_number(event_->timestamp) : none();
      case Member::cpu:
        return number_or_none(event_->cpu);
      case Member::pid:
        return number_or_none(event_->pid);
      case Member::tid:
        return number_or_none(event_->tid);
      case Member::process:
        return make_process();
      case Member::provider:
        return new_reference(kind_objects().provider);
      case Member::provider_guid:
        return new_reference(kind_objects().guid);
      case Member::name:
        return new_reference(kind_objects().name);
      case Member::id:
        return new_reference(kind_objects().id);
      case Member::opcode:
        return has_opcode(*event_) ? number(event_->opcode) : none();
      case Member::version:
        return has_version(event_->event_class) ? number(event_->version) : none();
      case Member::level:
        return has_level(*event_) ? number(event_->level) : none();
      case Member::keywords:
        return event_->event_class == tracefile::EventClass::manifest ? number(event_->keywords)
                                                                      : none();
      case Member::activity: {
        const auto activity = activity_of(*event_);
        return activity ? guid_text(*activity) : none();
      }
      case Member::fields:
        return new_reference(dictionary_);
      case Member::decoded:
        return text(to_string(result_.decoded));
      case Member::rest:
        return make_rest();
      case Member::stack:
        return make_stack();
      case Member::message:
        return make_message();
      case Member::trace_message:
        return shared_trace_message();
      case Member::file:
        return files_.empty() ? none() : new_reference(files_[event_->file]);
    }
    return none();
  }

  tracefile::EventContext context_;
  std::vector<std::size_t> members_;
  Needs needs_;
  bool all_messages_ = false;
  tracefile::EventDecoder decoder_;
  FieldObjects fields_;
  tracefile::EventMessage message_;
  tracefile::EventStack stack_;
  std::vector<KindObjects> kinds_;
  std::unordered_map<const tracefile::TraceMessage*, py::object> trace_messages_;
  std::vector<py::object> files_;
  u64 other_schemas_ = 0;
  u64 cut_messages_ = 0;
  // Of the current event, as far as they are needed.
  const Event* event_ = nullptr;
  const EventKind* kind_ = nullptr;
  const tracefile::EventSchema* schema_ = nullptr;
  tracefile::DecodeResult result_{};
  py::object dictionary_;
};

EventObjects::EventObjects(const tracefile::EventContext& context, std::vector<std::size_t> members,
                           bool messages)
    : maker_{std::make_unique<Maker>(context, std::move(members), messages)} {}

EventObjects::~EventObjects() = default;

Object EventObjects::make(const Event& event) {
  return maker_->make_event(event);
}

u64 EventObjects::other_schemas() const {
  return maker_->other_schemas();
}

u64 EventObjects::cut_messages() const {
  return maker_->cut_messages();
}

void add_event_records(py::module_& module) {
  static const Record message{module,
                              "TraceMessage",
                              "What the format of a WPP message says besides its text.",
                              {{"component", "the module that logged it"},
                               {"source_file", "of code"},
                               {"function", ""},
                               {"level", ""},
                               {"flags", ""}}};
  trace_message_record = &message;
  static const Record event{module,
                            "Event",
                            "One event, as in 'coldtrace trace decode'.",
                            {{"time", "nanoseconds since 1970, UTC"},
                             {"timestamp", "of the session's clock"},
                             {"cpu", ""},
                             {"pid", ""},
                             {"tid", ""},
                             {"process", "its name"},
                             {"provider", "its name"},
                             {"provider_guid", ""},
                             {"name", "of the event"},
                             {"id", ""},
                             {"opcode", ""},
                             {"version", ""},
                             {"level", ""},
                             {"keywords", "bits"},
                             {"activity", "a GUID"},
                             {"fields", "a dictionary; addresses and flags are numbers"},
                             {"decoded", "'exact', 'trailing', 'partial' or 'raw'"},
                             {"rest", "bytes of the payload that no field covers"},
                             {"stack", "a tuple of addresses, the innermost first"},
                             {"message", "of WPP; others if events() was asked for them"},
                             {"trace_message", "a TraceMessage, of WPP messages with a format"},
                             {"file", "of the event, if the trace has several"}}};
  event_record = &event;
}

}  // namespace coldtrace::python
