#include "pe/types/leaf_reader.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {

u64 read_number(core::Reader& in) {
  const auto at = in.offset();
  const auto leaf = in.read_u16("leaf");
  if (leaf < 0x8000) return leaf;
  switch (leaf) {
    case 0x8000:
      return static_cast<u64>(i64{in.read<i8>("LF_CHAR")});
    case 0x8001:
      return static_cast<u64>(i64{in.read<i16>("LF_SHORT")});
    case 0x8002:
      return in.read_u16("LF_USHORT");
    case 0x8003:
      return static_cast<u64>(i64{in.read_i32("LF_LONG")});
    case 0x8004:
      return in.read_u32("LF_ULONG");
    case 0x8009:
    case 0x800a:
      return in.read_u64("LF_UQUADWORD");
    default:
      in.reject(core::Fault::unsupported, at, "leaf", 0x800a, leaf);
      return 0;
  }
}

std::string_view read_name(core::Reader& in, core::ByteView record, u16 kind) {
  constexpr std::size_t longest_name = 0x10000;
  constexpr u16 first_kind_with_nul = 0x1500;
  if (kind < first_kind_with_nul) return core::to_chars(in.take(in.read_u8("length"), "name"));
  const auto text = core::read_c_string(record.subspan(in.consumed()), longest_name);
  if (!text) {
    in.reject(core::Fault::bad_value, in.offset(), "name", 0, 0);
    return {};
  }
  in.skip(text->size() + 1, "name");
  return *text;
}

}  // namespace coldtrace::pe
