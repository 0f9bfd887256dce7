// Writes traces of coldtrace's own format into the folder named by the first argument.

#include <filesystem>
#include <fstream>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"
#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"
#include "fixtures/builders/etl_file.hpp"

using namespace coldtrace;
using tracefile::CtraceData;
using tracefile::CtraceWriter;

namespace {

constexpr u64 start = 133'000'000'000'000'000;

class File {
 public:
  explicit File(u32 processors = 1, std::array<u32, 3> windows_version = {})
      : writer{options(processors, windows_version), [this](core::ByteView view) {
                 ends.push_back(bytes.size() + view.size());
                 bytes.append(core::to_chars(view));
               }} {
    at_tick(0);
    writer.flush(true);
  }

  void at_tick(u64 tick) { writer.set_time(tick * 300, {start + tick}); }

  void save(const std::filesystem::path& path) const {
    std::ofstream{path, std::ios::binary} << bytes;
  }

  std::string bytes;
  std::vector<std::size_t> ends;  // of the header and of each buffer
  CtraceWriter writer;

 private:
  static CtraceWriter::Options options(u32 processors, std::array<u32, 3> windows_version) {
    CtraceWriter::Options made;
    made.header.pointer_size = 8;
    made.header.windows_version = windows_version;
    made.header.ntdll.machine = 0x8664;
    made.header.ntdll.time_date_stamp = 1;
    made.header.ntdll.size_of_image = 2;
    made.header.ntdll.checksum = 3;
    made.header.clock = tracefile::ClockType::cpu_cycles;
    made.header.processors = processors;
    made.header.frequency = 3'000'000'000;
    made.header.start_time = {start};
    for (const auto& schema : tracefile::built_in_schemas()) made.header.schema_text += schema.text;
    made.buffer_size = 256;
    return made;
  }
};

// A key press that is cut short, one of a version that no schema has, and a whole one.
void write_keys(const std::filesystem::path& path) {
  File file;
  file.at_tick(1);
  const CtraceData whole = CtraceData{}.u32(1).u16(8).u64(0xe7c2'5ee7'c25e);
  file.writer.write(0, 0x0120, 0, whole.view());
  file.writer.write(0, 0x0120, 0, whole.view().first(12));
  file.writer.write(0, 0x0120, 7, whole.view());
  file.at_tick(2);
  file.writer.end();
  file.save(path);
}

void write_damaged(const std::filesystem::path& path) {
  File file{2};
  for (u64 i = 0; i < 60; ++i) {
    file.at_tick(i + 1);
    file.writer.write(static_cast<u16>(i % 2), 0x0102, 0, CtraceData{}.u32(7).view());
    if (i % 40 == 39) file.writer.flush();
  }
  file.writer.end();
  file.bytes[file.ends[4] + 70] ^= 1;
  file.bytes.insert(file.ends[6], "none");
  file.save(path);
}

void write_open(const std::filesystem::path& path) {
  File file;
  file.at_tick(1);
  file.writer.write(0, 0x0102, 0, CtraceData{}.u32(7).view());
  file.writer.reserve(0, 0x0102, 0, CtraceData{}.u32(8).view());
  file.at_tick(2);
  file.writer.end(false);
  file.save(path);
}

// A callback of ETW's, with the event of `buffer`.
void write_etw(const std::filesystem::path& path, const fixtures::EtlBuffer& buffer) {
  File file;
  file.at_tick(1);
  file.writer.write(0, 0x0405, 0, CtraceData{}.u16(3).bytes(buffer.events()).view());
  file.at_tick(2);
  file.writer.end();
  file.save(path);
}

// Calls of NtTraceControl as the callbacks of system services see them, with four arguments on
// x64, and as a tracer that copies the stack does.
void write_calls(const std::filesystem::path& path) {
  File file{1, {10, 0, 18362}};
  const auto call = [&](u32 hash, std::initializer_list<u64> arguments) {
    CtraceData data;
    data.u32(4).u32(8).u32(hash).word(0xfffff80000001000).u8(static_cast<u8>(arguments.size()));
    for (const auto argument : arguments) data.u64(argument);
    file.writer.write(0, 0x0401, 0, data.view());
    file.writer.flush();
  };
  constexpr u32 trace_control = 0x56ba111d;
  file.at_tick(1);
  call(trace_control, {0xffffffff0000001d, 0x1000, 8, 0x2000});
  call(trace_control, {1, 0x1000, 0xaf, 0x2000});
  call(trace_control, {1, 0x1000, 0xb0, 0x2000});
  call(trace_control, {0x16, 0x1000, 0x10, 0, 0, 0x3000});
  call(trace_control, {1, 0x1000});
  call(trace_control, {});
  call(trace_control + 1, {1, 0x1000, 0xaf, 0x2000});
  CtraceData numbered;
  numbered.u32(4).u32(8).u32(0x1b2).u8(6);
  for (const auto argument : std::array<u64, 6>{1, 0, 0xb0, 0x2000, 0xb0, 0x3000})
    numbered.word(argument);
  file.writer.write(0, 0x0116, 0, numbered.view());
  file.at_tick(2);
  file.writer.end();
  file.save(path);
}

// A service of a virtual device driver by its name, and one without.
void write_vxd_names(const std::filesystem::path& path) {
  File file;
  CtraceData name;
  file.writer.write(0, 0x0303, 0, name.u16(1).u16(3).ansi("VMM").ansi("Get_VMM_Version").view());
  for (const u16 service : {u16{3}, u16{4}}) {
    file.at_tick(service * u64{10});
    file.writer.write(0, 0x0301, 0, CtraceData{}.u16(1).u16(service).u16(0).u16(0).view());
    file.at_tick(service * u64{10} + 5);
    file.writer.write(0, 0x0302, 0,
                      CtraceData{}.u16(1).u16(service).u16(0).u16(0).u64(1500).view());
  }
  file.writer.end();
  file.save(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const std::filesystem::path folder{argv[1]};
  write_keys(folder / "keys.ctrace");
  write_damaged(folder / "damaged.ctrace");
  write_open(folder / "open.ctrace");
  fixtures::EtlBuffer process{0};
  process.system(0x0301, 4, {11, 22, 1'000'000}, fixtures::process_payload(22, "etw.exe"));
  write_etw(folder / "etw.ctrace", process);
  // Event 1 of painter.man.
  fixtures::ByteWriter paint;
  paint.write_u32(2);
  paint.write_u32(0xd);
  paint.write_bytes(fixtures::utf16z("the hall").view());
  fixtures::EtlBuffer painted{0};
  painted.event(*core::parse_guid("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e011"), 1, 0,
                {11, 22, 1'000'000}, paint, {}, 40);
  write_etw(folder / "painted.ctrace", painted);
  write_calls(folder / "calls.ctrace");
  write_vxd_names(folder / "vxd-names.ctrace");
}
