#include "coldtrace/tracefile/where/event_filter.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "coldtrace/where/where_matches.hpp"
#include "tracefile/where/field_subjects.hpp"
#include "tracefile/where/header_members.hpp"
#include "tracefile/where/test_truth.hpp"
#include "tracefile/where/where_members.hpp"

namespace coldtrace::tracefile {
namespace {

// Names of fields that a message may suggest.
constexpr std::size_t most_names = 4096;

template <class T>
Subject number_or_nothing(const std::optional<T>& number) {
  return {.number = number ? std::optional{Number::of(u64{*number})} : std::nullopt};
}

std::optional<std::string_view> text_or_nothing(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

// What only whole lines show, and what files beside the trace may name.
bool needs_lines(WhereMember member) {
  return member == WhereMember::line || member == WhereMember::stack || is_of_fields(member);
}

// Whether lines may have a text's bytes or units at a path beside the field, of which the schema
// has all but the last name: "Name_utf16", and inside arrays "Name.text" and "Name.text_utf16".
bool is_beside_field(std::string_view name, const std::vector<FieldSchema>& level, bool is_inner) {
  if (is_inner && level.empty())
    return name == "text" || name == "text_utf16" || name == "text_bytes";
  const auto stem = name.substr(0, name.rfind('_'));
  if (!name.ends_with("_utf16") && !name.ends_with("_bytes")) return false;
  return std::ranges::any_of(level, [&](const auto& field) { return field.name == stem; });
}

}  // namespace

// Looks at the fields of one event that tests ask for.
class EventFilter::Fields final : public FieldVisitor {
 public:
  Fields(EventFilter& filter, const Event& event, const EventKind& kind, const Plan& plan)
      : filter_{filter},
        event_{event},
        schema_{*kind.schema},
        plan_{plan},
        subjects_{filter.context_.clock, filter.context_.names, filter.texts_, filter.lines_.get()},
        found_(filter.where_.tests.size()) {}

  bool has_room(const FieldSchema& field) override {
    if (!plan_.last) return true;
    // The schema's own fields lie in one array; others belong to one of them.
    const auto* const first = schema_.fields.data();
    const std::less<> before;
    const bool own = !before(&field, first) && before(&field, first + schema_.fields.size());
    return !own || !before(plan_.last, &field);
  }

  void value(const FieldSchema& field, const Value& value) override {
    for (const auto& [wanted, number] : plan_.uses) {
      if (wanted != &field) continue;
      const auto& test = filter_.where_.tests[number];
      const auto subject = member_of(test) == WhereMember::resolved
                               ? subjects_.read_name(event_, field, value)
                               : subjects_.read(event_, field, value, test.compares_text());
      if (is_absent(subject)) continue;
      found_[number].present = true;
      found_[number].matches.add(match(test, subject, filter_.context_.start));
    }
  }

  void begin_array(const FieldSchema& field) override { present(field); }
  void end_array() override {}
  void begin_structure(const FieldSchema& field) override { present(field, true); }
  void end_structure() override {}

  // The truth of all tests of fields.
  void answer() {
    for (const auto& use : plan_.uses) {
      const auto number = use.test;
      const auto& test = filter_.where_.tests[number];
      const auto& [present, matches] = found_[number];
      filter_.met_[number].present |= matches.any();
      filter_.met_[number].comparable |= matches.comparable();
      const bool exists = test.relation == WhereTest::Relation::exists;
      filter_.truths_[number] = to_truth(present && (exists || matches.meet(test)));
    }
  }

 private:
  struct Found {
    bool present = false;
    where::WhereMatches matches;
  };

  void present(const FieldSchema& field, bool structure = false) {
    for (const auto& [wanted, number] : plan_.uses) {
      if (wanted != &field || member_of(filter_.where_.tests[number]) != WhereMember::field)
        continue;
      found_[number].present = true;
      if (structure) found_[number].matches.add(WhereMatch::incomparable);
    }
  }

  EventFilter& filter_;
  const Event& event_;
  const EventSchema& schema_;
  const Plan& plan_;
  FieldSubjects subjects_;
  std::vector<Found> found_;  // by test
};

EventFilter::EventFilter(const EventContext& context, core::Borrowed<WhereExpression> where)
    : context_{context},
      where_{where.get()},
      decoder_{context.schemas},
      texts_{context.clock},
      messages_{context.clock, context.parameters},
      unknown_(where_.tests.size(), Truth::unknown),
      met_(where_.tests.size()) {
  bool asks_lines = false;
  for (const auto& test : where_.tests) {
    asks_lines |= needs_lines(member_of(test));
    asks_kind_ |= is_of_kind(member_of(test));
    asks_fields_ |= is_of_fields(member_of(test));
    asks_kind_ |= member_of(test) == WhereMember::message;
    asks_decoded_ |= member_of(test) == WhereMember::decoded;
  }
  if (asks_lines && where_.lines != nullptr) lines_ = where_.lines->open(context_);
}

bool EventFilter::wants(const Event& event, const AttachedStack* attached) {
  has_line_ = false;
  const EventKind* kind = nullptr;
  const Plan* plan = nullptr;
  if (asks_kind_ || asks_fields_) {
    kind = &decoder_.kind_of(event);
    plan = &plan_of(*kind);
    if (plan->verdict != Truth::unknown) return plan->verdict == Truth::yes;
  }
  truths_ = plan ? plan->truths : unknown_;
  const auto ask_header = [&](std::size_t number) {
    auto& known = truths_[number];
    const auto& test = where_.tests[number];
    if (known == Truth::unknown && is_of_header(member_of(test)))
      known = truth_of_header(test, event);
    return known;
  };
  if (const auto verdict = where_.evaluate(ask_header); verdict != Truth::unknown)
    return verdict == Truth::yes;
  if (asks_decoded_ && !kind) kind = &decoder_.kind_of(event);
  const bool decodes = plan && !plan->uses.empty();
  if (decodes) decode(event, *kind, *plan);
  const auto is_of_line = [&](std::size_t number) {
    return member_of(where_.tests[number]) == WhereMember::line ||
           (plan && std::ranges::find(plan->beside, number) != plan->beside.end());
  };
  const auto ask_event = [&](std::size_t number) {
    auto& known = truths_[number];
    if (known != Truth::unknown || is_of_line(number)) return known;
    const auto& test = where_.tests[number];
    if (member_of(test) == WhereMember::stack)
      known = truth_of_stack(test, event, attached);
    else if (member_of(test) == WhereMember::decoded)
      known = truth(test, {.text = to_string(decoder_.measure(event, *kind).decoded)});
    else if (member_of(test) == WhereMember::message)
      known = truth_of_message(test, event, *kind);
    else
      known = truth_of_header(test, event);
    return known;
  };
  const auto ask_line = [&](std::size_t number) {
    auto& known = truths_[number];
    if (known == Truth::unknown && is_of_line(number))
      known = truth_of_line(number, event, attached);
    return known == Truth::unknown ? ask_event(number) : known;
  };
  const auto verdict = where_.evaluate(ask_event);
  return (verdict == Truth::unknown ? where_.evaluate(ask_line) : verdict) == Truth::yes;
}

const EventFilter::Plan& EventFilter::plan_of(const EventKind& kind) {
  if (!kind.kept) {
    overflow_ = {};
    make_plan(kind, overflow_);
    return overflow_;
  }
  if (kind.number >= plans_.size()) plans_.resize(kind.number + std::size_t{1});
  auto& plan = plans_[kind.number];
  if (!plan.ready) make_plan(kind, plan);
  return plan;
}

void EventFilter::make_plan(const EventKind& kind, Plan& plan) {
  plan.ready = true;
  plan.truths = unknown_;
  for (std::size_t i = 0; i < where_.tests.size(); ++i) {
    const auto known = truth_of_kind(where_.tests[i], kind);
    if (known)
      plan.truths[i] = *known;
    else if (is_of_fields(member_of(where_.tests[i])))
      plan.truths[i] = Truth::no;  // unless a schema has it
  }
  if (asks_fields_ && kind.schema) {
    add_uses(*kind.schema, plan);
    for (const auto& other : kind.others) add_uses(*other, plan);
    // Which of several schemas an event has is not known before it is decoded.
    if (!kind.others.empty()) plan.last = nullptr;
  }
  plan.verdict = where_.evaluate([&](std::size_t number) { return plan.truths[number]; });
}

void EventFilter::add_uses(const EventSchema& schema, Plan& plan) {
  remember_names(schema.fields, 0);
  for (std::size_t i = 0; i < where_.tests.size(); ++i) {
    const auto& test = where_.tests[i];
    if (!is_of_fields(member_of(test))) continue;
    // Level by level; names are different within one.
    const FieldSchema* field = nullptr;
    const FieldSchema* own = nullptr;
    const auto* level = &schema.fields;
    const std::string* last = nullptr;
    for (const auto& name : test.path) {
      last = &name;
      const auto found = std::find_if(level->begin(), level->end(), [&](const auto& member) {
        return member.name == name && !member.padding;
      });
      field = found == level->end() ? nullptr : &*found;
      if (!field) break;
      if (!own) own = field;
      level = &field->members;
    }
    if (!field && lines_ && &test.path.back() == last && is_beside_field(*last, *level, own)) {
      plan.truths[i] = Truth::unknown;
      plan.beside.push_back(i);
    }
    if (!field) continue;
    met_[i].known = true;
    plan.truths[i] = Truth::unknown;
    plan.uses.push_back({field, i});
    if (!plan.last || std::less<>{}(plan.last, own)) plan.last = own;
  }
}

void EventFilter::remember_names(const std::vector<FieldSchema>& fields, unsigned depth) {
  for (const auto& field : fields) {
    if (names_.size() >= most_names) return;
    if (field.padding) continue;
    names_.insert(field.name);
    if (depth < deepest_structure) remember_names(field.members, depth + 1);
  }
}

Truth EventFilter::truth(const WhereTest& test, const Subject& subject) const {
  return truth_of(test, subject, context_.start);
}

std::optional<Truth> EventFilter::truth_of_kind(const WhereTest& test,
                                                const EventKind& kind) const {
  switch (member_of(test)) {
    case WhereMember::provider:
      return truth(test, {.guid = provider_of(kind), .text = text_or_nothing(kind.provider_name)});
    case WhereMember::provider_guid:
      return truth(test, {.guid = provider_of(kind)});
    case WhereMember::provider_name:
      return truth(test, {.text = text_or_nothing(kind.provider_name)});
    case WhereMember::name:
      return truth(test, {.text = text_or_nothing(kind.name)});
    case WhereMember::id:
      return truth(test, number_or_nothing(has_id(kind.event_class) ? std::optional{kind.id}
                                                                    : std::nullopt));
    case WhereMember::version:
      return truth(test, number_or_nothing(version_of(kind)));
    case WhereMember::message:
      if (!kind.schema) return Truth::no;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Truth EventFilter::truth_of_header(const WhereTest& test, const Event& event) {
  if (const auto subject = read_header_member(member_of(test), event)) return truth(test, *subject);
  switch (member_of(test)) {
    case WhereMember::time:
      return truth(test, {.time = time_of(event, context_.clock)});
    case WhereMember::process:
      if (!event.pid) return truth(test, {});
      if (const auto name = context_.names.get().find_process(*event.pid, event.name_time())) {
        std::string room;
        return truth(test, {.text = core::shown_text(*name, room)});
      }
      return truth(test, {});
    case WhereMember::extended:
      return truth_of_extended(test, event);
    case WhereMember::file:
      if (context_.files.empty()) return truth(test, {});
      return truth(test, {.text = context_.files[event.file]});
    default:
      return Truth::unknown;
  }
}

Truth EventFilter::truth_of_message(const WhereTest& test, const Event& event,
                                    const EventKind& kind) {
  const auto* const schema = decoder_.choose_schema(event, kind);
  if (schema == nullptr || schema->message.empty()) return Truth::no;
  if (test.relation == WhereTest::Relation::exists) return Truth::yes;
  const auto text = messages_.make(*schema, event);
  return truth(test, {.text = text});
}

Truth EventFilter::truth_of_extended(const WhereTest& test, const Event& event) {
  read_extended_members(event, extended_);
  const auto found = std::find_if(
      extended_.begin(), extended_.end(),
      [&](const ExtendedMember& member) { return member.full_name() == test.path.front(); });
  if (found == extended_.end()) return Truth::no;
  core::TextBuffer text;
  switch (found->form) {
    case ExtendedMember::Form::guid: {
      const auto guid = core::to_guid(found->data);
      return truth(test, {.guid = guid, .text = core::to_string(guid)});
    }
    case ExtendedMember::Form::number:
      return truth(test, {.number = Number::of(found->number)});
    case ExtendedMember::Form::words:
      return truth_of_words(test, found->data);
    case ExtendedMember::Form::sid:
      append_sid(text, found->data);
      break;
    case ExtendedMember::Form::hex:
      text.append_hex(found->data);
      break;
  }
  return truth(test, {.text = text.view()});
}

Truth EventFilter::truth_of_line(std::size_t number, const Event& event,
                                 const AttachedStack* attached) {
  if (!lines_) return Truth::no;
  if (!has_line_) lines_->set(event, attached);
  has_line_ = true;
  const auto& test = where_.tests[number];
  auto path = test.path;
  if (member_of(test) == WhereMember::field) path.insert(path.begin(), "fields");
  if (member_of(test) == WhereMember::resolved)
    path = {"resolved", fmt::format("{}", fmt::join(path, "."))};
  where::WhereMatches matches;
  const bool present = lines_->each(
      path, [&](const Subject& subject) { matches.add(match(test, subject, context_.start)); });
  met_[number].known |= present;
  const bool exists = test.relation == WhereTest::Relation::exists;
  return to_truth(present && (exists || matches.meet(test)));
}

// Any element.
Truth EventFilter::truth_of_words(const WhereTest& test, core::ByteView data) const {
  if (test.relation == WhereTest::Relation::exists) return Truth::yes;
  where::WhereMatches matches;
  for (std::size_t at = 0; at + sizeof(u64) <= data.size(); at += sizeof(u64))
    matches.add(match(test, {.number = Number::of(*core::load<u64>(data, at))}, context_.start));
  return to_truth(matches.meet(test));
}

Truth EventFilter::truth_of_stack(const WhereTest& test, const Event& event,
                                  const AttachedStack* attached) {
  find_stack(event, context_.names.get().stacks(), stack_);
  const bool is_own = attached == nullptr || !stack_.frames.empty();
  const auto& frames = is_own ? stack_.frames : attached->frames;
  const auto pid = is_own || !attached->pid ? event.pid : attached->pid;
  if (frames.empty()) return Truth::no;
  if (test.relation == WhereTest::Relation::exists) return Truth::yes;
  where::WhereMatches matches;
  for (const auto frame : frames) {
    Subject subject{.number = Number::of(frame)};
    std::string text;
    std::string name;
    if (test.compares_text()) {
      text = fmt::format("{:#x}", frame);
      name = name_of_frame(pid, frame, event.name_time());
      subject.text = text;
    }
    subject.name = name;
    matches.add(match(test, subject, context_.start));
  }
  return to_truth(matches.meet(test));
}

std::string EventFilter::name_of_frame(std::optional<u32> pid, u64 address, i64 time) const {
  if (lines_)
    if (const auto name = lines_->name_frame(pid, address, time)) return core::shown_text(*name);
  return core::shown_text(context_.names.get().name_address(pid, address, time));
}

void EventFilter::decode(const Event& event, const EventKind& kind, const Plan& plan) {
  Fields fields{*this, event, kind, plan};
  static_cast<void>(decoder_.decode(event, kind, fields));
  fields.answer();
}

bool EventFilter::report(core::NoMatch& unmatched, std::string_view option) const {
  std::vector<std::string_view> names{names_.begin(), names_.end()};
  names.insert(names.end(), where_member_names().begin(), where_member_names().end());
  names.insert(names.end(), line_member_names().begin(), line_member_names().end());
  std::set<std::string_view> unknown;
  std::set<std::string_view> incomparable;
  for (std::size_t i = 0; i < where_.tests.size(); ++i) {
    const auto& test = where_.tests[i];
    const auto& met = met_[i];
    if (!is_of_fields(member_of(test))) continue;
    if (!met.known)
      unknown.insert(test.shown);
    else if (met.present && !met.comparable && test.relation != WhereTest::Relation::exists)
      incomparable.insert(test.shown);
  }
  for (const auto name : unknown) unmatched.add(option, name, names);
  for (const auto name : incomparable)
    unmatched.add_sentence(
        fmt::format("{}: no value of '{}' is of the type that it is compared with", option,
                    core::to_valid_utf8(name)));
  return !unknown.empty() || !incomparable.empty();
}

}  // namespace coldtrace::tracefile
