// Writes traces of waits that no machine has, into the folder named by the first argument.

#include <filesystem>
#include <fstream>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/built_in_schemas.hpp"
#include "coldtrace/tracefile/ctrace_writer.hpp"

using namespace coldtrace;
using tracefile::CtraceData;
using tracefile::CtraceWriter;

namespace {

constexpr u64 start = 133'000'000'000'000'000;

class File {
 public:
  explicit File(std::string_view schema)
      : writer_{options(schema), [this](core::ByteView view) { bytes_ += core::to_chars(view); }} {
    at_tick(0);
    writer_.flush(true);
  }

  void at_tick(u64 tick) { writer_.set_time(tick * 300, {start + tick}); }

  void log(u16 type, const CtraceData& data) {
    at_tick(++tick_);
    while (!writer_.write(0, type, 0, data.view())) writer_.write_full();
  }

  void save(const std::filesystem::path& path) {
    writer_.end();
    std::ofstream{path, std::ios::binary} << bytes_;
  }

 private:
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

// Of vtrace.schema.
constexpr u16 wait_begin = 0x0110;

// More objects than are kept: 64 in each wait.
void write_many_objects(const std::filesystem::path& path) {
  File file{"vtrace"};
  constexpr u64 objects = (1 << 18) + 64;
  for (u64 object = 0; object < objects;) {
    CtraceData data;
    data.u32(8).u32(12).u8(6).u8(1).u8(64);
    for (unsigned i = 0; i < 64; ++i, ++object) data.u8(2).word(0x1000 + 16 * object);
    file.log(wait_begin, data.u64(0));
  }
  file.save(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder{argv[1]};
  write_many_objects(folder / "many-objects.ctrace");
}
