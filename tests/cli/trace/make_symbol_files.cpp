// Writes traces, images and PDBs as lines on standard input say, for
// trace_symbols.py:
//
//   make_symbol_files trace|image|pdb FILE
//
// Numbers are as in C, a GUID is 32 digits in the order of its bytes, a name is the rest of the
// line.

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/etl_file.hpp"
#include "fixtures/builders/pdb_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;

constexpr auto image_id = *core::parse_guid("b3e675d7-2554-4f18-830b-2762732560de");

class Line {
 public:
  explicit Line(const std::string& text) : in_{text} {}

  std::string word() {
    std::string text;
    in_ >> text;
    return text;
  }
  u64 number() { return std::stoull(word(), nullptr, 0); }
  u32 number32() { return static_cast<u32>(number()); }
  i64 time() { return static_cast<i64>(number()); }
  core::Guid guid() {
    const auto digits = word();
    ByteWriter bytes;
    for (std::size_t i = 0; i < 32; i += 2)
      bytes.write_u8(std::stoul(digits.substr(i, 2), nullptr, 16));
    return core::to_guid(bytes.view());
  }
  std::string rest() {
    std::string text;
    std::getline(in_ >> std::ws, text);
    return text;
  }

 private:
  std::istringstream in_;
};

void add_event(fixtures::EtlBuffer& buffer, const std::string& kind, Line& line) {
  const auto time = line.time();
  ByteWriter out;
  if (kind == "process") {
    const auto pid = line.number32();
    buffer.system(0x0301, 4, {8, 4, time}, fixtures::process_payload(pid, line.rest()));
  } else if (kind == "thread") {
    const auto pid = line.number32();
    const auto tid = line.number32();
    out.write_u32(pid).write_u32(tid).write_zeros(40).write_u64(line.number()).write_zeros(16);
    buffer.system(0x0501, 3, {8, pid, time}, out.write_u16(0));
  } else if (kind == "sample") {
    const auto tid = line.number32();
    out.write_u64(line.number()).write_u32(tid).write_u16(1).write_u16(0x40);
    buffer.perfinfo(0x0f2e, 2, time, out);
  } else if (kind == "stack") {
    out.write_u64(line.number());
    out.write_u32(line.number32()).write_u32(line.number32());
    for (auto word = line.word(); !word.empty(); word = line.word())
      out.write_u64(std::stoull(word, nullptr, 0));
    buffer.perfinfo(0x1820, 2, time, out);
  } else if (kind == "switch") {
    const auto to = line.number32();
    const auto from = line.number32();
    out.write_u32(to).write_u32(from).write_zeros(4);
    out.write_u8(6).write_u8(1).write_u8(5).write_u8(0).write_zeros(8);  // UserRequest, waiting
    buffer.perfinfo(0x0524, 2, time, out);
  } else if (kind == "ready") {
    buffer.perfinfo(0x0532, 2, time, out.write_u32(line.number()).write_zeros(4));
  } else if (kind == "dpc") {
    out.write_u64(static_cast<u64>(time - 100)).write_u64(line.number());
    buffer.perfinfo(0x0f44, 2, time, out);
  } else if (kind == "load" || kind == "unload" || kind == "end") {
    const auto version = static_cast<u16>(line.number());
    const auto pid = line.number32();
    out.write_u64(line.number()).write_u64(line.number()).write_u32(pid);
    const auto stamp = line.number32();
    const auto checksum = line.number32();
    if (version >= 2) out.write_u32(checksum).write_u32(stamp).write_zeros(28);
    out.write_bytes(fixtures::utf16z(line.rest()).view());
    const u16 hook = kind == "load" ? 0x030a : kind == "unload" ? 0x1402 : 0x1404;
    buffer.system(hook, version, {8, pid, time}, out);
  } else if (kind == "rsds") {
    const auto pid = line.number32();
    out.write_u64(line.number()).write_u32(pid).write_bytes(line.guid().bytes);
    out.write_u32(line.number()).write_text(line.rest()).write_u8(0);
    buffer.full(image_id, 36, 2, {8, 4, time}, out);
  } else if (kind == "info") {
    const auto pid = line.number32();
    out.write_u64(line.number()).write_u64(line.number()).write_u32(pid);
    out.write_u32(line.number()).write_bytes(fixtures::utf16z(line.rest()).view());
    buffer.full(image_id, 0, 2, {8, 4, time}, out);
  } else {
    throw std::runtime_error{kind};
  }
}

core::ByteView make_trace(ByteWriter& file) {
  constexpr std::size_t nearly_full = 60'000;
  std::vector<fixtures::EtlBuffer> buffers{fixtures::EtlBuffer{0}};
  for (std::string text; std::getline(std::cin, text);) {
    Line line{text};
    const auto kind = line.word();
    if (buffers.back().events().size() > nearly_full) buffers.emplace_back(u16{0});
    add_event(buffers.back(), kind, line);
  }
  const fixtures::EtlSession session{.buffer_size = 65536};
  return file.write_bytes(fixtures::build_etl(session, buffers)).view();
}

core::ByteView make_image(ByteWriter& file) {
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(0x3000);
  spec.sections.push_back({.name = ".data", .characteristics = 0xc000'0040});
  spec.sections[1].content.resize(0x1000);
  spec.exports.emplace();
  ByteWriter functions;
  for (std::string text; std::getline(std::cin, text);) {
    Line line{text};
    const auto kind = line.word();
    if (kind == "stamp") {
      spec.time_date_stamp = line.number32();
    } else if (kind == "checksum") {
      spec.checksum = line.number32();
    } else if (kind == "x86") {
      spec.machine = 0x14c;
      spec.pe32_plus = false;
      spec.image_base = 0x1000'0000;
    } else if (kind == "export") {
      const auto ordinal = static_cast<u16>(line.number());
      const auto address = line.number32();
      spec.exports->entries.push_back({line.rest(), ordinal, address});
    } else if (kind == "forward") {
      const auto ordinal = static_cast<u16>(line.number());
      const auto to = line.word();
      spec.exports->entries.push_back({line.rest(), ordinal, 0, to});
    } else if (kind == "function") {  // from, to, and whether it is a part of the one before
      functions.write_u32(line.number()).write_u32(line.number());
      functions.write_u32(line.number() != 0 ? 0x3ff4 : 0x3ff0);
    } else if (kind == "pdb") {
      const auto guid = line.guid();
      const auto age = line.number32();
      spec.code_view = fixtures::PeCodeView{.name = line.rest(), .guid = guid, .age = age};
    } else {
      throw std::runtime_error{kind};
    }
  }
  spec.sections[0].content[0x2ff0] = std::byte{0x01};  // UNWIND_INFO of version 1
  spec.sections[0].content[0x2ff4] = std::byte{0x21};  // and UNW_FLAG_CHAININFO
  spec.exception_table = functions.bytes();
  return file.write_bytes(fixtures::build_pe(spec).view()).view();
}

core::ByteView make_pdb(ByteWriter& file) {
  fixtures::PdbSpec spec;
  spec.sections = {{".text", 0x1000, 0x1000'0000}};
  spec.publics.clear();
  for (std::string text; std::getline(std::cin, text);) {
    Line line{text};
    const auto kind = line.word();
    if (kind == "pdb") {
      spec.guid = line.guid();
      spec.age = line.number32();
    } else if (kind == "public") {
      const auto address = line.number32();
      spec.publics.push_back({line.rest(), 1, address - 0x1000});
    } else {
      throw std::runtime_error{kind};
    }
  }
  return file.write_bytes(fixtures::build_pdb(spec).view()).view();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kind = argv[1];
  ByteWriter file;
  const auto bytes = kind == "trace"   ? make_trace(file)
                     : kind == "image" ? make_image(file)
                                       : make_pdb(file);
  std::ofstream{argv[2], std::ios::binary} << core::to_chars(bytes);
}
