#include "cli/ntfs/bitlocker_volumes.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

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

void write_bitlocker(JsonWriter& json, const ntfs::BitLockerVolume* volume, bool named) {
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

void write_bitlocker_text(Output& output, const ntfs::BitLockerVolume& volume, bool named) {
  const auto& metadata = volume.metadata;
  print(output, "  BitLocker{}: {}, {}, created {}{}\n", metadata.to_go ? " To Go" : "",
        ntfs::encryption_text(metadata), to_string(metadata.id), core::to_string(metadata.created),
        named ? fmt::format(", '{}'", printable(metadata.description)) : std::string{});
  for (std::size_t i = 0; i < metadata.protectors.size(); ++i) {
    const auto& protector = metadata.protectors[i];
    print(output, "    {:<18} {}{}\n", ntfs::protector_name(protector.kind),
          to_string(protector.id), volume.protector == i ? ", which opened it" : "");
  }
}

}  // namespace coldtrace::cli
