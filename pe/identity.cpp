#include "coldtrace/pe/identity.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/pe/export_directory.hpp"

namespace coldtrace::pe {

namespace {

// What GetFileVersionInfo asks for. Source: Windows SDK, VS_VERSION_INFO of verrsrc.h.
constexpr u32 version_id = 1;

// The one that Windows takes where the user's language has none of its own, the lowest first.
// Source: Microsoft, KB 169483, "Resource Language Loading Order": neutral, the user's, English of
// the United States, any other.
int rank_of(const Resource& version) {
  constexpr u32 neutral = 0;
  constexpr u32 us_english = 0x409;
  const int language = version.language == neutral ? 0 : version.language == us_english ? 1 : 2;
  return (version.name.is(version_id) ? 0 : 3) + language;
}

bool same_numbers(const std::optional<FixedVersion>& a, const std::optional<FixedVersion>& b) {
  return a.has_value() == b.has_value() && (!a || (a->file == b->file && a->product == b->product));
}

std::string describe(const Resource& version, const std::optional<FixedVersion>& numbers) {
  return fmt::format("ID {}, language {:#06x}, {}", core::shown_text(to_string(version.name)),
                     version.language, numbers ? to_string(numbers->file) : "without numbers");
}

// Tells of the others beside the one that is read.
void note_others(const Image& image, const std::vector<Resource>& versions, const Resource& taken,
                 const VersionInfo& read, core::Findings& findings) {
  const auto numbers_of = [&](const Resource& version) {
    core::Findings ignored;
    return read_version_info(version.content(image), 0, ignored).fixed;
  };
  const auto other = std::ranges::find_if(versions, [&](const Resource& version) {
    return &version != &taken && !same_numbers(numbers_of(version), read.fixed);
  });
  const auto text = fmt::format("{} version resources, of which {} is read", versions.size(),
                                describe(taken, read.fixed));
  if (other == versions.end())
    findings.info("version-several", taken.offset, "{}; the others have the same numbers", text);
  else
    findings.warning("version-several", other->offset, "{}; another is {}", text,
                     describe(*other, numbers_of(*other)));
}

}  // namespace

std::optional<VersionInfo> find_version_info(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  const auto versions = find_resources(image, resource_version, findings);
  if (versions.empty()) return std::nullopt;
  const auto& taken = *std::ranges::min_element(versions, {}, rank_of);
  VersionInfo info;
  if (taken.offset)
    info = read_version_info(taken.content(image), *taken.offset, findings);
  else
    findings.warning("version-node", std::nullopt,
                     "the file stores nothing of the version resource at RVA {:#x}",
                     value(taken.address));
  if (!taken.name.is(version_id))
    findings.warning("version-id", taken.offset,
                     "the version resource has the ID {} and not 1: Windows shows no version",
                     core::shown_text(to_string(taken.name)));
  if (versions.size() > 1) note_others(image, versions, taken, info, findings);
  return info;
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
