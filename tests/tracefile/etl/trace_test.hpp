#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/file.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"
#include "fixtures/builders/etl_file.hpp"

namespace coldtrace::tracefile {

constexpr auto some_provider = *core::parse_guid("12345678-9abc-def0-1234-56789abcdef0");
constexpr u16 ready_thread = 0x0532;
constexpr u16 system_call = 0x0f33;

fixtures::ByteWriter words(std::initializer_list<u64> values);
fixtures::ByteWriter pointer(u64 value);
// Two processors whose buffers overlap in time, as a live session writes them.
std::vector<fixtures::EtlBuffer> overlapping_buffers(int rounds);

// Gathers the fields of an event as text: numbers in decimal, texts as they are, elements of
// arrays with blanks between, members as "Structure.Member".
class FieldTexts final : public FieldVisitor {
 public:
  explicit FieldTexts(const Clock& clock) : texts_{clock} {}

  std::map<std::string, std::string> fields;

  void value(const FieldSchema& field, const Value& value) override;
  void begin_array(const FieldSchema& field) override { fields[path_ + field.name]; }
  void end_array() override {}
  void begin_structure(const FieldSchema& field) override {
    path_ += field.name;
    path_.push_back('.');
  }
  void end_structure() override {
    path_.pop_back();
    const auto dot = path_.rfind('.');
    path_.resize(dot == std::string::npos ? 0 : dot + 1);
  }

 private:
  ValueText texts_;
  std::string path_;
};

extern const Clock system_clock;
// The fields of a payload by system_clock; checks how much of it the schema explains.
std::map<std::string, std::string> decode(const EventSchema& schema, core::ByteView payload,
                                          Decoded expected = Decoded::exact,
                                          unsigned pointer_size = 8);

std::string text_of(const Value& value, ValueText& texts);

// A trace in memory, with everything found about it.
struct OpenTrace {
  std::vector<std::byte> bytes;
  std::unique_ptr<core::MemoryImage> image;
  std::unique_ptr<Trace> trace;
  core::Findings findings;
};

// Fails the test when it cannot be opened.
OpenTrace open_bytes(std::vector<std::byte> bytes, unsigned jobs = 1, unsigned pointer_size = 0,
                     std::shared_ptr<const SchemaSource> schemas = nullptr);

// A sample with known answers, or nothing with a warning where the samples are not there.
std::optional<OpenTrace> open_sample(const std::string& name, unsigned jobs = 1);
std::string sample_path(const std::string& name);
bool samples_missing();

// One event with the bytes it points into.
struct HeldEvent {
  Event event;
  std::shared_ptr<const Buffer> buffer;
};
std::vector<HeldEvent> all_events(const Trace& trace, const StreamOptions& options = {});
std::vector<Gap> all_gaps(const Trace& trace, const StreamOptions& options = {});

}  // namespace coldtrace::tracefile
