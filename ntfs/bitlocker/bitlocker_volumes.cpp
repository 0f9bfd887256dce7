#include "coldtrace/ntfs/bitlocker/bitlocker_volumes.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "coldtrace/ntfs/bitlocker/bitlocker_image.hpp"
#include "coldtrace/ntfs/bitlocker/read_bitlocker.hpp"

namespace coldtrace::ntfs {
namespace {

// What gives a volume's key with this protector.
std::string_view source_of_key(u16 kind, const BitLockerKeyNames& names) {
  switch (kind & 0xFF00) {
    case bitlocker_protector::password:
      return names.password;
    case bitlocker_protector::recovery_password:
      return names.recovery_key;
    case bitlocker_protector::startup_key:
      return names.startup_key;
    case bitlocker_protector::clear_key:
      return "damaged";
    default:
      return "only with its computer or card";
  }
}

}  // namespace

std::string encryption_text(const BitLockerMetadata& metadata) {
  if (metadata.decrypted()) return "not encrypted";
  const auto name = encryption_name(metadata.method);
  return name.empty() ? fmt::format("encryption method {:#06x}", metadata.method)
                      : std::string{name};
}

void open_bitlocker_volumes(std::span<const BitLockerKey> keys,
                            std::unique_ptr<core::ImageSource>& image,
                            std::span<Partition> partitions, BitLockerVolumes& volumes,
                            core::Findings& findings) {
  for (auto& partition : partitions) {
    if (partition.kind != core::FileKind::bitlocker_volume) continue;
    auto metadata = read_bitlocker_metadata(
        *image, {partition.offset, std::min(partition.size, image->size() - partition.offset)},
        findings);
    if (!metadata) {
      findings.warning("bitlocker-metadata", metadata.error());
      continue;
    }
    auto& volume =
        volumes.emplace(partition.offset, BitLockerVolume{std::move(*metadata)}).first->second;
    const auto key = open_bitlocker(volume.metadata, keys, findings);
    auto opened = open_bitlocker_image(image, volume.metadata, key ? &*key : nullptr);
    if (!opened) continue;
    image = std::move(opened);
    volume.opened = true;
    partition.kind = identify_at(*image, partition.offset);
    if (!key) continue;
    volume.protector = key->protector;
    volume.key = key->key;
    const auto& protector = volume.metadata.protectors[key->protector];
    findings.info("bitlocker-opened", partition.offset,
                  "a BitLocker volume, {}, is read decrypted, opened with its {} {}",
                  encryption_text(volume.metadata), protector_name(protector.kind),
                  to_string(protector.id));
  }
}

void tell_unused_keys(std::size_t keys, const BitLockerVolumes& volumes, core::Findings& findings) {
  std::set<std::size_t> used;
  for (const auto& [offset, volume] : volumes)
    if (volume.key) used.insert(*volume.key);
  if (used.size() == keys) return;
  const bool locked =
      std::ranges::any_of(volumes, [](const auto& volume) { return !volume.second.opened; });
  const auto text = fmt::format("{} of {} given keys opened no volume", keys - used.size(), keys);
  if (locked)
    findings.warning("bitlocker-key", std::nullopt, "{}", text);
  else
    findings.info("bitlocker-key", std::nullopt, "{}", text);
}

std::string describe_locked(const Partition& partition, const BitLockerVolume& volume,
                            bool keys_given, const BitLockerKeyNames& names) {
  std::vector<std::string> protectors;
  for (const auto& protector : volume.metadata.protectors)
    protectors.push_back(fmt::format("{} {} ({})", protector_name(protector.kind),
                                     to_string(protector.id),
                                     source_of_key(protector.kind, names)));
  return fmt::format("{} a BitLocker volume, {}, and {}; {}",
                     partition.number == 0 ? std::string{"it is"}
                                           : fmt::format("partition {} is", partition.number),
                     encryption_text(volume.metadata),
                     keys_given ? "none of the given keys opens it" : "no key was given",
                     protectors.empty()
                         ? std::string{"it has no protectors"}
                         : fmt::format("its protectors are: {}", fmt::join(protectors, ", ")));
}

}  // namespace coldtrace::ntfs
