#include "coldtrace/ntfs/structures/reparse_point.hpp"

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::ntfs {
namespace {

using core::ByteView;

constexpr u32 tag_mount_point = 0xa0000003;
constexpr u32 tag_symlink = 0xa000000c;
constexpr u32 tag_lx_symlink = 0xa000001d;
constexpr u32 tag_app_exec_link = 0x8000001b;
constexpr u32 tag_wof = 0x80000017;

struct TagName {
  u32 tag;
  std::string_view name;
};

// Source: [MS-FSCC] 2.1.2.1; Windows SDK, IO_REPARSE_TAG_*.
constexpr TagName tag_names[] = {
    {tag_mount_point, "mount_point"},
    {tag_symlink, "symlink"},
    {tag_lx_symlink, "lx_symlink"},
    {tag_app_exec_link, "app_exec_link"},
    {tag_wof, "wof"},
    {0x80000007, "sis"},
    {0x80000008, "wim"},
    {0x80000009, "csv"},
    {0x8000000a, "dfs"},
    {0x80000012, "dfsr"},
    {0x80000013, "dedup"},
    {0x80000014, "nfs"},
    {0x80000018, "wci"},
    {0x90001018, "wci"},
    {0xa000001f, "wci_tombstone"},
    {0xa0000019, "global"},
    {0x9000001c, "projfs"},
    {0xa0000022, "projfs_tombstone"},
    {0x8000001e, "storage_sync"},
    {0x80000023, "af_unix"},
    {0x80000024, "lx_fifo"},
    {0x80000025, "lx_chr"},
    {0x80000026, "lx_blk"},
    {0xc0000004, "hsm"},
    {0x80000006, "hsm2"},
};

// The substitute name of a junction or symlink: what the system follows.
std::optional<std::string> substitute_name(ByteView data, u64 names_offset) {
  const auto fields = core::Fields<8>::at(data, 0);
  if (!fields || names_offset > data.size()) return std::nullopt;
  const auto names = data.subspan(names_offset);
  const auto name = core::slice(names, fields->get<u16, 0>(), fields->get<u16, 2>());
  if (!name) return std::nullopt;
  return core::decode_exact(*name);
}

// NUL-separated strings: package, application, program, kind. The program is the target.
std::optional<std::string> app_exec_target(ByteView data) {
  if (data.size() < 4) return std::nullopt;
  auto rest = data.subspan(4);
  ByteView text;
  for (int i = 0; i < 3; ++i) {
    text = core::until_nul_unit(rest);
    rest = text.size() + 2 <= rest.size() ? rest.subspan(text.size() + 2) : ByteView{};
  }
  if (text.empty()) return std::nullopt;
  return core::decode_exact(text);
}

std::optional<std::string> wof_storage(ByteView data) {
  const auto provider = core::load<u32>(data, 4);
  if (provider == 1u) return "wim";
  const auto algorithm = core::load<u32>(data, 12);
  if (provider != 2u || !algorithm) return std::nullopt;
  constexpr std::string_view names[] = {"xpress4k", "lzx", "xpress8k", "xpress16k"};
  if (*algorithm >= std::size(names)) return std::nullopt;
  return std::string{names[*algorithm]};
}

std::optional<std::string> target_of(u32 tag, ByteView data) {
  switch (tag) {
    case tag_mount_point:
      return substitute_name(data, 8);
    case tag_symlink:
      return substitute_name(data, 12);
    case tag_lx_symlink:
      if (data.size() < 4) return std::nullopt;
      return std::string{core::to_chars(data.subspan(4))};
    case tag_app_exec_link:
      return app_exec_target(data);
    case tag_wof:
      return wof_storage(data);
    default:
      return std::nullopt;
  }
}

}  // namespace

core::Result<ReparsePoint> read_reparse_point(ByteView value, u64 offset) {
  core::Reader in{value, "$REPARSE_POINT", offset};
  const u32 tag = in.read_u32("Tag");
  const u16 length = in.read_u16("DataLength");
  in.skip(2, "Reserved");
  // Tags that are not Microsoft's are followed by the GUID of their owner.
  if ((tag >> 31) == 0) in.skip(16, "Guid");
  const auto data = in.take(length, "Data");
  if (!in.ok()) return core::fail(in.error());
  return ReparsePoint{tag, target_of(tag, data)};
}

bool has_byte_target(u32 tag) {
  return tag == tag_lx_symlink;
}

std::string_view reparse_tag_name(u32 tag) {
  if ((tag & 0xffff0fff) == 0x9000001a) return "cloud";
  for (const auto& known : tag_names)
    if (known.tag == tag) return known.name;
  return {};
}

}  // namespace coldtrace::ntfs
