#include "coldtrace/ntfs/shadow/shadow_copy.hpp"

#include <fmt/format.h>

namespace coldtrace::ntfs {
namespace {

struct NamedBit {
  u32 bit;
  std::string_view name;
};
constexpr NamedBit named_bits[] = {{0x1, "persistent"},
                                   {0x2, "no_autorecovery"},
                                   {0x4, "client_accessible"},
                                   {0x8, "no_auto_release"},
                                   {0x10, "no_writers"},
                                   {0x20, "transportable"},
                                   {0x40, "not_surfaced"},
                                   {0x80, "not_transacted"},
                                   {0x1'0000, "hardware_assisted"},
                                   {0x2'0000, "differential"},
                                   {0x4'0000, "plex"},
                                   {0x8'0000, "imported"},
                                   {0x10'0000, "exposed_locally"},
                                   {0x20'0000, "exposed_remotely"},
                                   {0x40'0000, "autorecover"},
                                   {0x80'0000, "rollback_recovery"},
                                   {0x100'0000, "delayed_postsnapshot"},
                                   {0x200'0000, "txf_recovery"}};

}  // namespace

std::vector<std::string> shadow_attribute_names(u32 attributes) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : named_bits) {
    if ((attributes & bit) != 0) names.emplace_back(name);
    attributes &= ~bit;
  }
  if (attributes != 0) names.push_back(fmt::format("{:#x}", attributes));
  return names;
}

}  // namespace coldtrace::ntfs
