#include "coldtrace/registry/hive/value.hpp"

#include "coldtrace/core/utf16.hpp"

namespace coldtrace::registry {

bool Value::is_text() const {
  return type == ValueType::text || type == ValueType::expand_text || type == ValueType::link ||
         type == ValueType::multi_text;
}

std::string Value::text() const {
  if (!is_text()) return {};
  return core::decode_exact(core::until_nul_unit(data));
}

std::vector<std::string> Value::texts() const {
  std::vector<std::string> texts;
  if (type != ValueType::multi_text) {
    if (auto one = text(); !one.empty()) texts.push_back(std::move(one));
    return texts;
  }
  core::ByteView left{data};
  while (left.size() >= 2) {
    const auto part = core::until_nul_unit(left);
    if (part.size() >= 2) texts.push_back(core::decode_exact(part));
    left = left.subspan(std::min(left.size(), part.size() + 2));
  }
  return texts;
}

std::optional<u64> Value::number() const {
  const core::ByteView bytes{data};
  switch (type) {
    case ValueType::dword:
      return core::load<u32>(bytes, 0);
    case ValueType::dword_big_endian:
      if (const auto number = core::load<u32>(bytes, 0)) return __builtin_bswap32(*number);
      return std::nullopt;
    case ValueType::qword:
      return core::load<u64>(bytes, 0);
    case ValueType::binary: {
      if (bytes.empty() || bytes.size() > 8) return std::nullopt;
      u64 number = 0;
      for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | u64(bytes[i]);
      return number;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace coldtrace::registry
