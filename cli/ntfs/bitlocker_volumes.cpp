#include "cli/ntfs/bitlocker_volumes.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_image.hpp"
#include "coldtrace/ntfs/bitlocker/read_bitlocker.hpp"

namespace coldtrace::cli {
namespace {

std::string encryption_text(const ntfs::BitLockerMetadata& metadata) {
  if (metadata.decrypted()) return "not encrypted";
  const auto name = ntfs::encryption_name(metadata.method);
  return name.empty() ? fmt::format("encryption method {:#06x}", metadata.method)
                      : std::string{name};
}

// What gives a volume's key with this protector.
std::string_view source_of_key(u16 kind) {
  switch (kind & 0xFF00) {
    case ntfs::bitlocker_protector::password:
      return "--password-file";
    case ntfs::bitlocker_protector::recovery_password:
      return "--recovery-key-file";
    case ntfs::bitlocker_protector::startup_key:
      return "--startup-key";
    case ntfs::bitlocker_protector::clear_key:
      return "damaged";
    default:
      return "only with its computer or card";
  }
}

std::string_view state_name(u16 state) {
  switch (state) {
    case ntfs::BitLockerMetadata::state_decrypted:
      return "decrypted";
    case ntfs::BitLockerMetadata::state_encrypted:
      return "encrypted";
    default:
      return "in_part";
  }
}

}  // namespace

void open_bitlocker_volumes(std::span<const ntfs::BitLockerKey> keys,
                            std::unique_ptr<core::ImageSource>& image,
                            std::span<ntfs::Partition> partitions, BitLockerVolumes& volumes,
                            core::Findings& findings) {
  for (auto& partition : partitions) {
    if (partition.kind != core::FileKind::bitlocker_volume) continue;
    auto metadata = ntfs::read_bitlocker_metadata(
        *image, {partition.offset, std::min(partition.size, image->size() - partition.offset)},
        findings);
    if (!metadata) {
      findings.warning("bitlocker-metadata", metadata.error());
      continue;
    }
    auto& volume =
        volumes.emplace(partition.offset, BitLockerVolume{std::move(*metadata)}).first->second;
    const auto key = ntfs::open_bitlocker(volume.metadata, keys, findings);
    auto opened = ntfs::open_bitlocker_image(image, volume.metadata, key ? &*key : nullptr);
    if (!opened) continue;
    image = std::move(opened);
    volume.opened = true;
    partition.kind = ntfs::identify_at(*image, partition.offset);
    if (!key) continue;
    volume.protector = key->protector;
    volume.key = key->key;
    const auto& protector = volume.metadata.protectors[key->protector];
    findings.info("bitlocker-opened", partition.offset,
                  "a BitLocker volume, {}, is read decrypted, opened with its {} {}",
                  encryption_text(volume.metadata), ntfs::protector_name(protector.kind),
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
  const auto text =
      fmt::format("{} of {} keys that were given opened no volume", keys - used.size(), keys);
  if (locked)
    findings.warning("bitlocker-key", std::nullopt, "{}", text);
  else
    findings.info("bitlocker-key", std::nullopt, "{}", text);
}

std::string describe_locked(const ntfs::Partition& partition, const BitLockerVolume& volume,
                            bool keys_given) {
  std::vector<std::string> protectors;
  for (const auto& protector : volume.metadata.protectors)
    protectors.push_back(fmt::format("{} {} ({})", ntfs::protector_name(protector.kind),
                                     to_string(protector.id), source_of_key(protector.kind)));
  return fmt::format("{} a BitLocker volume, {}, and {}; {}",
                     partition.number == 0 ? std::string{"it is"}
                                           : fmt::format("partition {} is", partition.number),
                     encryption_text(volume.metadata),
                     keys_given ? "none of the keys that were given opens it" : "no key was given",
                     protectors.empty()
                         ? std::string{"it has no protectors"}
                         : fmt::format("its protectors are: {}", fmt::join(protectors, ", ")));
}

void write_bitlocker(JsonWriter& json, const BitLockerVolume* volume, bool named) {
  json.key("bitlocker");
  if (volume == nullptr) {
    json.value(nullptr);
    return;
  }
  const auto& metadata = volume->metadata;
  const auto method = ntfs::encryption_name(metadata.method);
  json.begin_object()
      .field("id", to_string(metadata.id))
      .field("version", metadata.version)
      .field("to_go", metadata.to_go)
      .field("state", state_name(metadata.state));
  json.key("encryption").value(method.empty() ? std::nullopt : std::optional{method});
  json.field("created", core::to_string(metadata.created));
  json.field("description", named ? std::string_view{metadata.description} : std::string_view{})
      .field("opened", volume->opened);
  json.key("protectors").begin_array();
  for (std::size_t i = 0; i < metadata.protectors.size(); ++i) {
    const auto& protector = metadata.protectors[i];
    json.begin_object()
        .field("id", to_string(protector.id))
        .field("type", ntfs::protector_name(protector.kind))
        .field("changed", core::to_string(protector.changed))
        .field("opened", volume->protector == i)
        .end_object();
  }
  json.end_array().end_object();
}

void write_bitlocker_text(Output& output, const BitLockerVolume& volume, bool named) {
  const auto& metadata = volume.metadata;
  print(output, "  BitLocker{}: {}, {}, created {}{}\n", metadata.to_go ? " To Go" : "",
        encryption_text(metadata), to_string(metadata.id), core::to_string(metadata.created),
        named ? fmt::format(", '{}'", printable(metadata.description)) : std::string{});
  for (std::size_t i = 0; i < metadata.protectors.size(); ++i) {
    const auto& protector = metadata.protectors[i];
    print(output, "    {:<18} {}{}\n", ntfs::protector_name(protector.kind),
          to_string(protector.id), volume.protector == i ? ", which opened it" : "");
  }
}

}  // namespace coldtrace::cli
