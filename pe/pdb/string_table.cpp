#include "coldtrace/pdb/string_table.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 info_stream = 1;

// A bit for each place of a hash table; it is behind them where `in` stands then.
core::ByteView read_bits(core::Reader& in, core::Name field) {
  return in.take(u64{in.read_u32(field)} * 4, field);
}

bool is_set(core::ByteView bits, u32 number) {
  const auto byte = core::load<u8>(bits, number / 8);
  return byte && (*byte >> number % 8 & 1) != 0;
}

}  // namespace

std::optional<u32> find_named_stream(const Pdb& pdb, std::string_view name) {
  const auto stream = pdb.msf().read(info_stream, "PDB info stream");
  if (!stream) return std::nullopt;
  core::Reader in{stream->view(), "PDB info stream", 0};
  in.skip(pdb.info().size_on_disk(), "header");
  const auto texts = in.take(in.read_u32("names"), "names");
  in.skip(4, "Size");
  const auto capacity = in.read_u32("Capacity");
  const auto present = read_bits(in, "present bits");
  read_bits(in, "deleted bits");
  for (u32 i = 0; i < capacity && i < present.size() * 8 && in.ok(); ++i) {
    if (!is_set(present, i)) continue;
    const auto key = in.read_u32("name");
    const auto number = in.read_u32("stream");
    if (!in.ok() || key >= texts.size()) continue;
    if (core::read_c_string(texts.subspan(key), texts.size()) == name) return number;
  }
  return std::nullopt;
}

StringTable StringTable::read(const Pdb& pdb, core::Findings& findings) {
  StringTable table;
  const auto number = find_named_stream(pdb, "/names");
  if (!number) return table;
  auto bytes = pdb.msf().read(*number, "PDB string table");
  if (!bytes) {
    findings.warning("pdb-stream", bytes.error());
    return table;
  }
  core::Reader in{bytes->view(), "PDB string table", 0};
  in.expect<u32>(0xeffe'effe, "Signature");
  in.skip(4, "HashVersion");
  const auto texts = in.take(in.read_u32("ByteSize"), "texts");
  if (!in.ok()) {
    findings.warning("pdb-stream", pdb.msf().placed(in.error(), *number));
    return table;
  }
  table.texts_ = texts;
  table.stream_ = std::move(*bytes);
  return table;
}

std::optional<std::string_view> StringTable::find(u32 place) const {
  if (place >= texts_.size()) return std::nullopt;
  return core::read_c_string(texts_.subspan(place), texts_.size());
}

}  // namespace coldtrace::pe
