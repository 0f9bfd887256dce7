#include "coldtrace/registry/hive/hive.hpp"

#include <algorithm>

namespace coldtrace::registry {

Hive::Hive(std::vector<std::byte> bytes, const BaseBlock& base, core::Findings& findings)
    : bytes_{std::move(bytes)},
      base_{base},
      findings_{&findings},
      // A sound hive of a machine is read with less than a tenth of both.
      elements_left_{bytes_.size() / 4 + 65536},
      data_left_{bytes_.size() * 4} {}

core::Result<Hive> Hive::open(std::vector<std::byte> bytes, core::Findings& findings) {
  const auto base = read_base_block(bytes);
  if (!base) return core::fail(base.error());
  const u64 there = bytes.size() > BaseBlock::size ? bytes.size() - BaseBlock::size : 0;
  if (base->bins_size > there)
    findings.warning("hive-truncated", bytes.size(),
                     "the hive ends after {} of its {} bytes of bins: keys in the rest are missing",
                     there, base->bins_size);
  Hive hive{std::move(bytes), *base, findings};
  hive.check_bins();
  return hive;
}

// A bin begins with "hbin" and says where it lies and how long it is.
void Hive::check_bins() const {
  constexpr u64 unit = 4096;
  const u64 end = std::min<u64>(bytes_.size(), BaseBlock::size + base_.bins_size);
  for (u64 at = BaseBlock::size; at < end;) {
    core::Reader reader{core::ByteView{bytes_}.subspan(at), "hive bin", at};
    reader.expect<u32>(0x6e696268, "Signature");
    reader.expect<u32>(static_cast<u32>(at - BaseBlock::size), "Offset", core::Fault::bad_value);
    const auto size_at = reader.offset();
    const auto size = reader.read_u32("Size");
    if (reader.ok() && (size == 0 || size % unit != 0))
      reader.reject(core::Fault::bad_value, size_at, "Size", unit, size);
    if (!reader.ok()) {
      damaged(reader.error());
      at += unit;
    } else {
      at += size;
    }
  }
}

core::Result<core::ByteView> Hive::cell(u32 offset) const {
  const auto bins = core::slice(
      bytes_, BaseBlock::size,
      std::min<u64>(base_.bins_size,
                    bytes_.size() > BaseBlock::size ? bytes_.size() - BaseBlock::size : 0));
  const auto size = bins ? core::load<i32>(*bins, offset) : std::nullopt;
  if (!size)
    return core::fail(core::ParseError{core::Fault::out_of_bounds, place(offset), "hive cell",
                                       "Offset", base_.bins_size, offset});
  // Of cells in use the size is negative.
  const u64 length = *size < 0 ? u64(-i64{*size}) : 0;
  if (length < 8)
    return core::fail(core::ParseError{core::Fault::bad_value, place(offset), "hive cell", "Size",
                                       u64(-8), u64(i64{*size})});
  const auto bytes = core::slice(*bins, offset, length);
  if (!bytes)
    return core::fail(core::ParseError{core::Fault::truncated, place(offset), "hive cell", "Size",
                                       length, bins->size() - offset});
  return bytes->subspan(4);
}

bool Hive::spend(u64& left, u64 count) const {
  if (count <= left) {
    left -= count;
    return true;
  }
  findings_->warning("hive-limit", std::nullopt,
                     "keys share more lists or data than those of a hive of {} bytes could; the "
                     "excess is not read",
                     bytes_.size());
  return false;
}

bool Hive::spend_elements(u64 count) const {
  return spend(elements_left_, count);
}
bool Hive::spend_data(u64 bytes) const {
  return spend(data_left_, bytes);
}

void Hive::damaged(const core::ParseError& error) const {
  findings_->warning("hive-damaged", error);
}

}  // namespace coldtrace::registry
