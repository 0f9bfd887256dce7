#pragma once

#include <filesystem>
#include <fstream>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"
#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"

namespace coldtrace::test {

using tracefile::CtraceData;
using tracefile::CtraceWriter;

// A .ctrace file of one processor and one schema, whose events are 100 ns apart.
class CtraceFile {
 public:
  explicit CtraceFile(std::string_view schema)
      : writer_{options(schema), [this](core::ByteView view) { bytes_ += core::to_chars(view); }} {
    at_tick(0);
    writer_.flush(true);
  }

  void at_tick(u64 tick) { writer_.set_time(tick * 300, {start + tick}); }

  void log(u16 type, const CtraceData& data) {
    at_tick(++tick_);
    writer_.write_full();
    writer_.write(0, type, 0, data.view());
  }

  void save(const std::filesystem::path& path) {
    writer_.end();
    std::ofstream{path, std::ios::binary} << bytes_;
  }

 private:
  static constexpr u64 start = 133'000'000'000'000'000;

  static CtraceWriter::Options options(std::string_view name) {
    CtraceWriter::Options made;
    made.header.pointer_size = 8;
    made.header.clock = tracefile::ClockType::cpu_cycles;
    made.header.processors = 1;
    made.header.frequency = 3'000'000'000;
    made.header.start_time = {start};
    for (const auto& schema : tracefile::built_in_schemas())
      if (schema.name == name) made.header.schema_text += schema.text;
    return made;
  }

  std::string bytes_;
  CtraceWriter writer_;
  u64 tick_ = 0;
};

}  // namespace coldtrace::test
