#include "coldtrace/pe/identity.hpp"

#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/export_directory.hpp"

namespace coldtrace::pe {

std::optional<VersionInfo> find_version_info(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  const auto resources = find_resources(image, resource_version, findings);
  if (resources.empty()) return std::nullopt;
  const auto& version = resources.front();
  return read_version_info(version.content(image), version.offset.value_or(0), findings);
}

bool has_wine_marker(const Image& image) {
  constexpr u64 behind_dos_header = 0x40;
  const auto bytes = image.file().slice(behind_dos_header, 20);
  if (!bytes) return false;
  const auto text = core::to_chars(*bytes);
  return text.starts_with("Wine builtin DLL") || text == "Wine placeholder DLL";
}

bool same_headers(const Identity& a, const Identity& b) {
  return a.time_date_stamp == b.time_date_stamp && a.size_of_image == b.size_of_image &&
         a.checksum == b.checksum && a.machine == b.machine;
}

std::string to_string(const Identity& identity) {
  return fmt::format("{} {} {}{}, stamp {:#010x}, size {:#x}, checksum {:#x}",
                     identity.name.empty() ? "(no name)" : core::printable(identity.name),
                     to_string(identity.machine),
                     core::printable(identity.file_version.value_or("(no version)")),
                     identity.wine ? " (Wine)" : "", identity.time_date_stamp,
                     identity.size_of_image, identity.checksum);
}

Identity read_identity(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  auto version = find_version_info(image, findings);
  const auto& optional = image.optional_header();
  Identity identity{
      .name = std::string{read_module_name(image)},
      .machine = image.machine(),
      .file_version = std::nullopt,
      .time_date_stamp = image.file_header().time_date_stamp,
      .size_of_image = optional.size_of_image,
      .checksum = optional.checksum,
      .pdb = find_pdb_reference(image, findings),
      .wine = has_wine_marker(image),
      .version = std::nullopt,
  };
  if (version && version->fixed) identity.file_version = to_string(version->fixed->file);
  if (version && identity.name.empty()) identity.name = version->find("OriginalFilename");
  identity.version = std::move(version);
  return identity;
}

}  // namespace coldtrace::pe
