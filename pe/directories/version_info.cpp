#include "coldtrace/pe/version_info.hpp"

#include <algorithm>

#include "coldtrace/core/utf16.hpp"

namespace coldtrace::pe {
namespace {

// One node of the tree: 6 bytes, its key, then value and children at multiples of 4.
struct Node {
  core::ByteView key;  // UTF-16LE
  u16 value_length;
  core::ByteView rest;  // value and children
  u64 rest_offset;
};

// The nodes that lie one behind the other in `bytes`. The last one may count up to `padding` bytes
// behind it that are not there.
class Nodes {
 public:
  Nodes(core::ByteView bytes, u64 offset, core::Findings& findings, u64 padding = 0)
      : bytes_{bytes}, offset_{offset}, findings_{findings}, padding_{padding} {}

  std::optional<Node> next() {
    constexpr u64 header_size = 6;
    if (bytes_.size() < header_size) return std::nullopt;
    const auto length = core::load<u16>(bytes_, 0).value_or(0);
    if (length == 0) return std::nullopt;  // padding
    if (length < header_size || length > bytes_.size() + padding_) {
      findings_.warning("version-node", offset_, "a version node of {} bytes where {} are left",
                        length, bytes_.size());
      return std::nullopt;
    }
    const auto body = bytes_.first(std::min<u64>(length, bytes_.size()));
    const auto key = core::until_nul_unit(body.subspan(header_size));
    const auto start = std::min<u64>(aligned(header_size + key.size() + 2), body.size());
    const Node node{key, core::load<u16>(body, 2).value_or(0), body.subspan(start),
                    offset_ + start};
    const auto step = std::min<u64>(aligned(length), bytes_.size());
    bytes_ = bytes_.subspan(step);
    offset_ += step;
    return node;
  }

 private:
  static u64 aligned(u64 size) { return (size + 3) & ~u64{3}; }

  core::ByteView bytes_;
  u64 offset_;
  core::Findings& findings_;
  u64 padding_;
};

std::optional<FixedVersion> read_fixed(const Node& root, core::Findings& findings) {
  if (root.value_length == 0) return std::nullopt;
  core::Reader in{root.rest, "VS_FIXEDFILEINFO", root.rest_offset};
  in.expect<u32>(0xfeef04bd, "dwSignature");
  in.skip(4, "dwStrucVersion");
  const auto read_number = [&](core::Name high, core::Name low) {
    const auto ms = in.read_u32(high);
    const auto ls = in.read_u32(low);
    return VersionNumber{static_cast<u16>(ms >> 16), static_cast<u16>(ms),
                         static_cast<u16>(ls >> 16), static_cast<u16>(ls)};
  };
  FixedVersion fixed{};
  fixed.file = read_number("dwFileVersionMS", "dwFileVersionLS");
  fixed.product = read_number("dwProductVersionMS", "dwProductVersionLS");
  const auto mask = in.read_u32("dwFileFlagsMask");
  fixed.flags = in.read_u32("dwFileFlags") & mask;
  in.skip(4, "dwFileOS");
  fixed.type = in.read_u32("dwFileType");
  in.skip(12, "dwFileSubtype to dwFileDateLS");
  if (in.ok()) return fixed;
  findings.warning("version-fixed", in.error());
  return std::nullopt;
}

bool has_key(const Node& node, std::string_view key) {
  return node.key.size() == key.size() * 2 && core::decode_utf16(node.key).utf8 == key;
}

}  // namespace

std::string to_string(const VersionNumber& version) {
  return fmt::format("{}.{}.{}.{}", version[0], version[1], version[2], version[3]);
}

std::string_view VersionInfo::find(std::string_view key) const {
  const auto found = std::find_if(strings.begin(), strings.end(),
                                  [&](const auto& string) { return string.key == key; });
  return found == strings.end() ? std::string_view{} : std::string_view{found->value};
}

VersionInfo read_version_info(core::ByteView bytes, u64 offset, core::Findings& findings) {
  constexpr std::size_t language_size = 16;  // eight digits
  VersionInfo info;
  const auto root = Nodes{bytes, offset, findings}.next();
  if (!root || !has_key(*root, "VS_VERSION_INFO")) {
    findings.warning("version-node", offset, "a version resource without VS_VERSION_INFO");
    return info;
  }
  info.fixed = read_fixed(*root, findings);
  const u64 value_size = std::min<u64>((u64{root->value_length} + 3) & ~u64{3}, root->rest.size());
  Nodes blocks{root->rest.subspan(value_size), root->rest_offset + value_size, findings};
  while (const auto block = blocks.next()) {
    if (!has_key(*block, "StringFileInfo")) continue;
    Nodes tables{block->rest, block->rest_offset, findings};
    while (const auto table = tables.next()) {
      const auto language_units = table->key.first(std::min(table->key.size(), language_size));
      const auto language = core::decode_exact(language_units);
      if (table->key.size() > language_size)
        findings.warning("version-node", table->rest_offset,
                         "the language of a string table has {} bytes instead of {}",
                         table->key.size(), language_size);
      constexpr u64 counted_padding = 3;  // by compilers of .NET
      Nodes strings{table->rest, table->rest_offset, findings, counted_padding};
      // The value's length is in units or, by some compilers, in bytes: its NUL decides.
      while (const auto string = strings.next())
        info.strings.push_back({language, core::decode_exact(string->key),
                                core::decode_exact(core::until_nul_unit(string->rest))});
    }
  }
  return info;
}

}  // namespace coldtrace::pe
