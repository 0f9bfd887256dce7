// Any bytes as the events that analyses of traces read, with times, ids and payloads as they come:
// what the analyses answer stays within what they were told.

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>

#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"
#include "coldtrace/tracefile/schema-language/schema_compiler.hpp"
#include "fuzz/tracefile/trace_analysis_invariants.hpp"
#include "tracefile/analysis/records/record_reader.hpp"

namespace {

using namespace coldtrace;

constexpr u8 stack_group = 0x18;

// Group, opcode and version.
constexpr std::array<std::array<u8, 3>, 70> kernel_kinds = {
    {{0x05, 36, 4}, {0x05, 50, 2}, {0x05, 1, 3},  {0x05, 2, 3},  {0x05, 3, 3},  {0x05, 4, 3},
     {0x03, 1, 4},  {0x03, 2, 4},  {0x03, 3, 4},  {0x03, 4, 4},  {0x0f, 51, 2}, {0x0f, 52, 2},
     {0x0f, 67, 2}, {0x0f, 68, 2}, {0x0f, 69, 2}, {0x05, 72, 2}, {0x05, 48, 3}, {0x05, 49, 3},
     {0x05, 66, 2}, {0x05, 60, 2}, {0x0f, 46, 2}, {0x18, 32, 2}, {0x18, 35, 2}, {0x18, 36, 2},
     {0x18, 34, 2}, {0x18, 37, 2}, {0x18, 38, 2}, {0x0f, 72, 2}, {0x0f, 73, 3}, {0x0f, 74, 2},
     {0x0f, 75, 2}, {0x0f, 50, 2}, {0x0f, 70, 2}, {0x14, 10, 3}, {0x14, 2, 3},  {0x14, 3, 2},
     {0x14, 4, 3},  {0x04, 0, 2},  {0x04, 35, 2}, {0x04, 36, 2}, {0x04, 65, 3}, {0x04, 69, 3},
     {0x04, 70, 3}, {0x04, 71, 3}, {0x04, 72, 3}, {0x04, 73, 3}, {0x04, 74, 3}, {0x04, 75, 3},
     {0x04, 77, 3}, {0x01, 13, 3}, {0x01, 15, 3}, {0x06, 11, 2}, {0x06, 14, 2}, {0x06, 26, 2},
     {0x06, 30, 2}, {0x08, 10, 2}, {0x08, 26, 2}, {0x08, 27, 2}, {0x04, 64, 2}, {0x04, 66, 3},
     {0x04, 67, 3}, {0x04, 68, 2}, {0x04, 76, 3}, {0x06, 10, 2}, {0x06, 27, 2}, {0x08, 11, 2},
     {0x01, 10, 3}, {0x01, 12, 3}, {0x01, 11, 2}, {0x01, 14, 3}}};

// The first and the last bytes choose these, all others events of drivers.
constexpr std::size_t low_kinds = 16;

const std::array<u8, 3>* find_classic(u8 kind) {
  if (kind < low_kinds) return &kernel_kinds[kind];
  const std::size_t high = kernel_kinds.size() - low_kinds;
  if (kind < 256 - high) return nullptr;
  return &kernel_kinds[low_kinds + kind - (256 - high)];
}

std::vector<tracefile::Schema> all_schemas() {
  std::vector<tracefile::Schema> all;
  for (const auto& schema : tracefile::built_in_schemas()) {
    auto parsed = tracefile::parse_schemas(schema.text);
    if (!parsed) std::abort();
    for (auto& one : *parsed) all.push_back(std::move(one));
  }
  return all;
}

// An event is a byte that chooses its kind, one for processor and size, the time that passes, and
// the payload.
class Events {
 public:
  Events(core::ByteView input, const tracefile::CompiledSchemas& schemas) {
    i64 time = 0;
    for (std::size_t at = 0; at + 12 <= input.size();) {
      tracefile::Event event{};
      const auto kind = std::to_integer<u8>(input[at]);
      const auto shape = std::to_integer<u8>(input[at + 1]);
      const auto* const classic = find_classic(kind);
      const bool is_stack = classic != nullptr && (*classic)[0] == stack_group;
      const auto before = time;
      time = static_cast<i64>(static_cast<u64>(time) + *core::load<u64>(input, at + 2));
      event.timestamp = time;
      event.has_time = true;
      event.pointer_size = 8;
      event.cpu = shape & 3U;
      // Stacks are longer than anything else.
      const auto length =
          std::min<std::size_t>(std::to_integer<std::size_t>(input[at + 10]) * (is_stack ? 16 : 1),
                                input.size() - at - 11);
      event.payload = input.subspan(at + 11, length);
      at += 11 + length;
      if (classic != nullptr) {
        event.event_class = tracefile::EventClass::classic;
        event.kernel_group = (*classic)[0];
        event.opcode = (*classic)[1];
        event.version = (*classic)[2];
        event.pid = 4;
        event.tid = shape;
        if (is_stack && (shape & 4U) != 0) event.payload = stack_of(before, event.payload);
      } else {
        event.event_class = tracefile::EventClass::driver;
        event.id = static_cast<u16>((1U + shape / 64U) << 8U | (kind & 0x3fU));
        event.cpu = shape & 1U;
        if (const auto* known = schemas.find_event(event.id, 0)) event.provider = known->provider;
      }
      all_.push_back(event);
    }
  }

  const std::vector<tracefile::Event>& all() const { return all_; }

 private:
  // The same stack as one of an event at that time.
  core::ByteView stack_of(i64 time, core::ByteView payload) {
    auto& copy = stacks_.emplace_back(payload.begin(), payload.end());
    if (copy.size() >= sizeof(time)) std::memcpy(copy.data(), &time, sizeof(time));
    return copy;
  }

  std::vector<tracefile::Event> all_;
  std::deque<std::vector<std::byte>> stacks_;
};

// One joined by thread whose events are calls of the system too, one that overlaps it, one whose
// end is its next begin, and one that a field joins.
trace_analysis::EventPairs some_pairs() {
  std::vector<trace_analysis::EventPair> pairs;
  for (const auto* const text : {"*Begin=*Satisfied", "SystemCall=ContextSwitch",
                                 "Thread/CSwitch=Thread/CSwitch", "*=*Completion@irp"})
    pairs.push_back(*trace_analysis::parse_event_pair(text));
  return trace_analysis::EventPairs{std::move(pairs)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trace_analysis;
  static const auto declarations = all_schemas();
  static const tracefile::CompiledSchemas schemas{declarations, 8};
  const Events events{std::as_bytes(std::span{data, size}), schemas};
  tracefile::NameRecords records;
  for (const auto& event : events.all()) records.add(event);
  tracefile::NameTables names{1U << 16U};
  core::Findings findings;
  names.add(records, findings);
  names.finish();
  const tracefile::Clock clock;
  fixtures::AllAnalyses all{names, clock, CounterTicks{}};
  std::vector<Analysis*> analyses;
  for (const auto& [name, analysis] : all.list()) analyses.push_back(analysis);
  Services in_periods{all.code, Periods::of_length(1'000'000)};
  analyses.push_back(&in_periods);
  Population population;
  const Losses losses;
  Observed observed{population, losses, std::nullopt, std::nullopt};
  for (auto* const analysis : analyses) analysis->begin(observed);
  auto pairs = some_pairs();
  RecordReader reader{schemas, names.stacks(), losses, population, analyses, &pairs};
  for (const auto& event : events.all()) {
    if (!observed.first) observed.first = event.timestamp;
    observed.last = event.timestamp;
    reader.read(event);
  }
  reader.finish();
  for (auto* const analysis : analyses) analysis->finish(observed);
  fuzz::check(all, observed);
  fuzz::check(in_periods);
  return 0;
}
