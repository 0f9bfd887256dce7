// Traces, .etl and .ctrace, and their events.

#include <memory>
#include <unordered_map>

#include <pybind11/stl.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/schema_files/schema_files.hpp"
#include "coldtrace/schema_files/traced_build.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"
#include "coldtrace/tracefile/names/event_stack.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "coldtrace/tracefile/selection/event_context.hpp"
#include "python/packed.hpp"
#include "python/values.hpp"

namespace coldtrace::python {
namespace {

using tracefile::Event;
using tracefile::EventKind;
using tracefile::FieldSchema;
using tracefile::ValueShape;

const Record* event_record = nullptr;

struct Trace {
  tracefile::AnyTrace trace;
  core::Findings findings;
  tracefile::SchemaChain schemas;
  u64 unread_buffers = 0;   // the most met by an iterator
  core::NoMatch unmatched;  // of expressions that matched no event

  core::Findings all_findings() const {
    auto all = findings;
    unmatched.report(all);
    tracefile::note_unread_buffers(unread_buffers, all);
    return all;
  }
};

std::shared_ptr<Trace> open_trace(const Path& given, const std::vector<Path>& schemas,
                                  const std::vector<Text>& languages, Jobs jobs) {
  const auto& path = given.bytes;
  std::optional<std::string> failure;
  std::shared_ptr<Trace> opened;
  {
    const WithoutLock unlocked;
    core::Findings findings;
    auto trace = tracefile::AnyTrace::open(
        path, {.catalog = {.jobs = jobs.count, .schema_keys = !schemas.empty()}}, findings);
    if (trace) {
      opened = std::make_shared<Trace>(Trace{std::move(*trace), std::move(findings), {}, 0, {}});
      opened->schemas.append({std::shared_ptr<const void>{}, &opened->trace.schemas()});
      if (!schemas.empty()) {
        schema_files::SchemaFiles files;
        for (const auto& schema : schemas) files.add(schema.bytes, opened->findings);
        const auto read = files.read(opened->trace.schema_keys(), to_strings(languages),
                                     schema_files::traced_build(opened->trace), opened->findings,
                                     &opened->trace.schemas());
        files.report_unused(*read, "schemas", opened->findings);
        opened->schemas.append_alternative(read);
      }
    } else {
      const auto& error = trace.error();
      const bool other = error.readable && error.kind != core::FileKind::unknown &&
                         error.kind != core::FileKind::ctrace;
      failure = !error.text.empty() ? error.text
                : other             ? describe_other(error.kind, "a trace")
                                    : to_string(error.error);
    }
  }
  if (failure) raise_error(path + ": " + *failure);
  return opened;
}

// Makes a dictionary of the fields of an event. Texts that lose some of their bytes are accompanied
// by the bytes, under the names used by the tool.
class FieldObjects final : public tracefile::FieldVisitor {
 public:
  explicit FieldObjects(const tracefile::Clock& clock)
      : clock_known_{clock.known()}, texts_{clock} {}

  // `kept`: the kind, and with it its schema, stays alive.
  void start(bool kept) {
    kept_ = kept;
    levels_.clear();
    levels_.push_back(py::dict{});
  }
  Object finish() { return levels_.front().release().ptr(); }

  void value(const FieldSchema& field, const tracefile::Value& value) override {
    if (value.out == tracefile::OutType::encrypted) return add(field, text("encrypted"));
    const auto shape = shape_of(value, clock_known_);
    const bool utf16 = shape == ValueShape::utf16_text;
    if (!utf16 && shape != ValueShape::ansi_text) return add(field, plain(shape, value));
    add(field, utf16 ? utf16_text(value.bytes) : text(core::to_chars(value.bytes)));
    const bool odd = utf16 && value.bytes.size() % 2 != 0;
    if ((odd || !value.whole.empty()) && PyDict_Check(levels_.back().ptr())) {
      const auto name =
          py::reinterpret_steal<py::object>(text(field.name + (utf16 ? "_utf16" : "_bytes")));
      levels_.back()[name] =
          py::reinterpret_steal<py::object>(bytes(value.whole.empty() ? value.bytes : value.whole));
    }
  }
  void begin_array(const FieldSchema& field) override { begin(field, py::list{}); }
  void end_array() override { levels_.pop_back(); }
  void begin_structure(const FieldSchema& field) override { begin(field, py::dict{}); }
  void end_structure() override { levels_.pop_back(); }

 private:
  Object plain(ValueShape shape, const tracefile::Value& value) {
    switch (shape) {
      case ValueShape::absent:
        return none();
      case ValueShape::unsigned_integer:
        return number(shown_number(value));
      case ValueShape::signed_integer:
        return signed_number(static_cast<i64>(value.number));
      case ValueShape::floating:
        return checked(PyFloat_FromDouble(shown_floating(value)));
      case ValueShape::boolean:
        return truth(value.number != 0);
      default:
        break;
    }
    if (const auto hex = hex_number(value)) return number(*hex);
    text_.clear();
    texts_.append(text_, value);
    return text(text_.view());
  }

  // Steals the reference.
  void add(const FieldSchema& field, Object value) {
    const auto object = py::reinterpret_steal<py::object>(value);
    auto& level = levels_.back();
    const int failed = PyList_Check(level.ptr())
                           ? PyList_Append(level.ptr(), value)
                           : PyDict_SetItem(level.ptr(), name_of(field).ptr(), value);
    if (failed != 0) throw py::error_already_set{};
  }

  void begin(const FieldSchema& field, py::object inner) {
    add(field, py::object{inner}.release().ptr());
    levels_.push_back(std::move(inner));
  }

  // Names of fields are created once.
  py::object name_of(const FieldSchema& field) {
    if (!kept_) return py::reinterpret_steal<py::object>(text(field.name));
    auto& known = names_[&field];
    if (!known) known = py::reinterpret_steal<py::object>(text(field.name));
    return known;
  }

  bool clock_known_;
  bool kept_ = false;
  tracefile::ValueText texts_;
  core::TextBuffer text_;
  std::vector<py::object> levels_;
  std::unordered_map<const FieldSchema*, py::object> names_;
};

// Returns the events of a trace, in lists of some hundred.
class EventChunks {
 public:
  static constexpr std::size_t chunk_size = 512;

  EventChunks(std::shared_ptr<Trace> trace, std::unique_ptr<tracefile::WhereExpression> where)
      : trace_{std::move(trace)},
        where_{std::move(where)},
        context_{tracefile::event_context_of(trace_->trace, trace_->schemas)},
        stream_{trace_->trace.stream({})},
        decoder_{trace_->schemas},
        fields_{trace_->trace.clock()} {
    if (where_) filter_.emplace(context_, *where_);
  }

  py::list next() {
    const OneAtATime turn{busy_};
    {
      const WithoutLock unlocked;
      read();
    }
    trace_->unread_buffers = std::max(trace_->unread_buffers, stream_->unread_buffers());
    if (ended_ && filter_ && !std::exchange(told_, true)) tell_unmatched();
    if (events_.empty()) throw py::stop_iteration{};
    auto list = py::reinterpret_steal<py::list>(
        checked(PyList_New(static_cast<Py_ssize_t>(events_.size()))));
    Py_ssize_t at = 0;
    for (const auto& held : events_) PyList_SET_ITEM(list.ptr(), at++, make_event(held.event));
    return list;
  }

 private:
  // An event, and what keeps its bytes alive.
  struct Held {
    Event event;
    std::shared_ptr<const tracefile::Buffer> buffer;
  };
  // The objects that all events of a kind share.
  struct KindObjects {
    bool ready = false;
    py::object provider, guid, name, id;
  };

  void read() {
    using Item = tracefile::EventSequence::Item;
    events_.clear();
    while (!ended_ && events_.size() < chunk_size) {
      const auto item = stream_->next();
      if (item == Item::end) {
        ended_ = true;
        return;
      }
      if (item == Item::gap) continue;  // in the findings of the trace
      const auto& event = stream_->event();
      if (!filter_ || filter_->wants(event)) events_.push_back({event, stream_->buffer()});
    }
  }

  // Reports what the expression names and no event has, once all were seen.
  void tell_unmatched() {
    core::NoMatch unmatched;
    filter_->report(unmatched, "where");
    trace_->unmatched.merge_unknown(unmatched);
  }

  static KindObjects make_kind(const EventKind& kind) {
    KindObjects objects;
    const auto steal = [](Object object) { return py::reinterpret_steal<py::object>(object); };
    objects.ready = kind.kept;
    objects.provider = steal(text_or_none(kind.provider_name));
    const auto provider = provider_of(kind);
    objects.guid = steal(provider ? guid_text(*provider) : none());
    objects.name = steal(text_or_none(kind.name));
    objects.id = steal(has_id(kind.event_class) ? number(kind.id) : none());
    return objects;
  }

  const KindObjects& objects_of(const EventKind& kind) {
    if (kind.number >= kinds_.size()) kinds_.resize(kind.number + std::size_t{1});
    auto& objects = kinds_[kind.number];
    if (!objects.ready) objects = make_kind(kind);
    return objects;
  }

  Object make_event(const Event& event) {
    const auto& kind = decoder_.kind_of(event);
    const auto& common = objects_of(kind);
    fields_.start(kind.kept);
    const auto result = decoder_.decode(event, kind, fields_);
    const auto when = tracefile::time_of(event, context_.clock);
    const auto process = event.pid
                             ? context_.names.get().find_process(*event.pid, event.name_time())
                             : std::optional<std::string_view>{};
    tracefile::find_stack(event, context_.names.get().stacks(), stack_);
    const auto activity = activity_of(event);
    const std::array values{
        when ? time(*when) : none(),
        event.has_time ? signed_number(event.timestamp) : none(),
        number_or_none(event.cpu),
        number_or_none(event.pid),
        number_or_none(event.tid),
        process ? exact_text(*process) : none(),
        py::object{common.provider}.release().ptr(),
        py::object{common.guid}.release().ptr(),
        py::object{common.name}.release().ptr(),
        py::object{common.id}.release().ptr(),
        has_opcode(event) ? number(event.opcode) : none(),
        has_version(event.event_class) ? number(event.version) : none(),
        has_level(event) ? number(event.level) : none(),
        event.event_class == tracefile::EventClass::manifest ? number(event.keywords) : none(),
        activity ? guid_text(*activity) : none(),
        fields_.finish(),
        text(to_string(result.decoded)),
        result.decoded == tracefile::Decoded::exact || (kind.schema && kind.schema->encrypted)
            ? none()
            : bytes(event.payload.subspan(std::min(result.consumed, event.payload.size()))),
        tuple_of(stack_.frames, [](u64 frame) { return number(frame); })};
    return event_record->make(values, Record::Cycles::possible);
  }

  std::shared_ptr<Trace> trace_;
  std::unique_ptr<tracefile::WhereExpression> where_;
  tracefile::EventContext context_;
  std::unique_ptr<tracefile::EventSequence> stream_;
  std::optional<tracefile::EventFilter> filter_;
  tracefile::EventDecoder decoder_;
  FieldObjects fields_;
  tracefile::EventStack stack_;
  std::vector<Held> events_;
  std::vector<KindObjects> kinds_;
  bool ended_ = false;
  bool told_ = false;
  bool busy_ = false;
};

py::object events_of(const std::shared_ptr<Trace>& trace, const std::optional<Text>& where) {
  std::unique_ptr<tracefile::WhereExpression> expression;
  if (where) {
    auto parsed = tracefile::parse_where(where->utf8);
    if (!parsed) raise_error("where: " + to_string(parsed.error()));
    if (const auto member = tracefile::line_member_in(*parsed); !member.empty())
      raise_error("where: events have no member " + std::string{member} + " here");
    expression = std::make_unique<tracefile::WhereExpression>(std::move(*parsed));
  }
  return chained(py::cast(std::make_unique<EventChunks>(not_none(trace), std::move(expression))));
}

}  // namespace

void add_traces(py::module_& module) {
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
                             {"stack", "a tuple of addresses, the innermost first"}}};
  event_record = &event;
  py::class_<EventChunks> iterator{module, "_EventChunks"};
  forbid_new(iterator);
  iterator.def("__iter__", [](py::object self) { return self; })
      .def("__next__", [](EventChunks& self) { return self.next(); });
  py::class_<Trace, std::shared_ptr<Trace>> type{module, "Trace",
                                                 "An .etl or .ctrace file, compressed or not."};
  forbid_new(type);
  type.def_property_readonly("format",
                             [](const Trace& self) { return std::string{self.trace.format()}; })
      .def_property_readonly(
          "start_time",
          [](const Trace& self) {
            const auto start = self.trace.start_time();
            return py::reinterpret_steal<py::object>(start ? time(*start) : none());
          })
      .def_property_readonly("windows_version",
                             [](const Trace& self) { return to_str(self.trace.windows_build()); })
      .def("__len__", [](const Trace& self) { return self.trace.events(); })
      .def_property_readonly("findings",
                             [](const Trace& self) { return to_list(self.all_findings()); })
      .def("events", &events_of, py::kw_only(), py::arg("where") = py::none(),
           "Its events in time order; 'where' is an expression of 'coldtrace trace decode'.");
  module.def("open_trace", &open_trace, py::arg("path"), py::kw_only(),
             py::arg("schemas") = std::vector<std::string>{},
             py::arg("languages") = std::vector<std::string>{"en-US"}, py::arg("jobs") = 1,
             "Opens a trace by its contents. 'schemas' are files and folders, as for --schemas.");
}

}  // namespace coldtrace::python
