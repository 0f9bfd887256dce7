#include "pe/pdb/symbol_record.hpp"

namespace coldtrace::pe {
namespace {

bool has_name_behind(u16 kind) {
  constexpr u16 s_procref_st = 0x0400;
  constexpr u16 s_dataref_st = 0x0401;
  constexpr u16 s_lprocref_st = 0x0403;
  return kind == s_procref_st || kind == s_dataref_st || kind == s_lprocref_st;
}

}  // namespace

std::optional<SymbolRecord> find_symbol(core::ByteView records, u64 position) {
  const auto length = core::load<u16>(records, position);
  if (!length || *length < sizeof(u16)) return std::nullopt;
  const auto bytes = core::slice(records, position + sizeof(u16), *length);
  if (!bytes) return std::nullopt;
  u64 end = position + sizeof(u16) + bytes->size();
  if (has_name_behind(core::load<u16>(*bytes, 0).value_or(0)))
    end += (core::load<u8>(records, end).value_or(0) + u64{1} + 3) / 4 * 4;
  return SymbolRecord{*bytes, end};
}

}  // namespace coldtrace::pe
