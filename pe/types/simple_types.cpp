#include "coldtrace/pdb/simple_types.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::pe {
namespace {

using enum SimpleType::Kind;

// By code. The names of Volatility are those of its pdbconv.py, where it has one.
constexpr std::array simple_types = {
    SimpleType{0x03, void_, 0, false, "Void", "void", "void"},
    SimpleType{0x08, integer, 4, true, "HRESULT", "HRESULT", "int"},
    SimpleType{0x10, integer, 1, true, "Char", "char", "signed char"},
    SimpleType{0x11, integer, 2, true, "Int2B", "short", "short"},
    SimpleType{0x12, integer, 4, true, "Int4B", "long", "int"},
    SimpleType{0x13, integer, 8, true, "Int8B", "long long", "long long"},
    SimpleType{0x14, integer, 16, true, "Int16B", "int128", ""},
    SimpleType{0x20, integer, 1, false, "UChar", "unsigned char", "unsigned char"},
    SimpleType{0x21, integer, 2, false, "Uint2B", "unsigned short", "unsigned short"},
    SimpleType{0x22, integer, 4, false, "Uint4B", "unsigned long", "unsigned int"},
    SimpleType{0x23, integer, 8, false, "Uint8B", "unsigned long long", "unsigned long long"},
    SimpleType{0x24, integer, 16, false, "Uint16B", "uint128", ""},
    SimpleType{0x30, boolean, 1, false, "Bool", "bool", "unsigned char"},
    SimpleType{0x31, boolean, 2, false, "Bool2B", "bool16", "unsigned short"},
    SimpleType{0x32, boolean, 4, false, "Bool4B", "bool32", "unsigned int"},
    SimpleType{0x33, boolean, 8, false, "Bool8B", "bool64", "unsigned long long"},
    SimpleType{0x40, floating, 4, true, "Float", "f32", "float"},
    SimpleType{0x41, floating, 8, true, "Double", "double", "double"},
    SimpleType{0x42, floating, 10, true, "Real10B", "f80", ""},
    SimpleType{0x43, floating, 16, true, "Real16B", "f128", ""},
    SimpleType{0x46, floating, 2, true, "Real2B", "f16", ""},
    SimpleType{0x68, integer, 1, true, "Char", "int8", "signed char"},
    SimpleType{0x69, integer, 1, false, "UChar", "uint8", "unsigned char"},
    SimpleType{0x70, character, 1, true, "Char", "char", "char"},
    SimpleType{0x71, character, 2, false, "Wchar", "wchar", "unsigned short"},
    SimpleType{0x72, integer, 2, true, "Int2B", "short", "short"},
    SimpleType{0x73, integer, 2, false, "Uint2B", "unsigned short", "unsigned short"},
    SimpleType{0x74, integer, 4, true, "Int4B", "int", "int"},
    SimpleType{0x75, integer, 4, false, "Uint4B", "unsigned int", "unsigned int"},
    SimpleType{0x76, integer, 8, true, "Int8B", "long long", "long long"},
    SimpleType{0x77, integer, 8, false, "Uint8B", "unsigned long long", "unsigned long long"},
    SimpleType{0x78, integer, 16, true, "Int16B", "int128", ""},
    SimpleType{0x79, integer, 16, false, "Uint16B", "uint128", ""},
    SimpleType{0x7a, character, 2, false, "Char16", "char16", "unsigned short"},
    SimpleType{0x7b, character, 4, false, "Char32", "char32", "unsigned int"},
    SimpleType{0x7c, character, 1, false, "Char8", "char8", "unsigned char"},
};

static_assert(std::is_sorted(simple_types.begin(), simple_types.end(),
                             [](const auto& a, const auto& b) { return a.code < b.code; }));

}  // namespace

const SimpleType* find_simple_type(u32 index) {
  if (index >= first_record_index) return nullptr;
  const auto code = static_cast<u8>(index);
  const auto* const found =
      std::lower_bound(simple_types.begin(), simple_types.end(), code,
                       [](const SimpleType& type, u8 wanted) { return type.code < wanted; });
  return found != simple_types.end() && found->code == code ? found : nullptr;
}

u8 size_of_simple_pointer(u32 index, u8 pointer_size) {
  constexpr std::array<u8, 8> sizes = {0, 2, 4, 4, 4, 6, 8, 16};
  return index == nullptr_index ? pointer_size : sizes[index >> 8 & 7];
}

u64 to_integer(u64 stored, const SimpleType* type) {
  if (!type || type->size == 0 || type->size >= sizeof(u64)) return stored;
  const unsigned unused = 64 - type->size * 8U;
  const u64 high = stored << unused;
  return type->is_signed ? static_cast<u64>(static_cast<i64>(high) >> unused) : high >> unused;
}

}  // namespace coldtrace::pe
