#include "cli/ntfs/shadow_list.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/output/text_size.hpp"
#include "cli/output/text_time.hpp"

namespace coldtrace::cli {
namespace {

std::string describe(const ntfs::ShadowCopy& copy, bool elsewhere) {
  auto text = exact_size_text(copy.volume_size);
  if (copy.store)
    text += fmt::format(", copy {}, set {}", to_string(copy.store->copy_id),
                        to_string(copy.store->set_id));
  if (!copy.parts)
    text += fmt::format(", store {} {}", to_string(copy.store_id),
                        elsewhere ? "on another volume"
                                  : "in this volume, at a location that the catalog does not give");
  if (copy.store && copy.store->attributes != 0)
    text +=
        fmt::format(", {}", fmt::join(ntfs::shadow_attribute_names(copy.store->attributes), " "));
  if (copy.deleted()) text += ", deleted";
  return text;
}

}  // namespace

void write_shadow_list(JsonWriter& json, const ntfs::ShadowCopies* shadows, bool named) {
  json.key("shadow_copies");
  if (shadows == nullptr) {
    json.value(nullptr);
    return;
  }
  const auto& header = shadows->header();
  json.begin_object()
      .field("volume_id", to_string(header.volume_id))
      .field("storage_id", to_string(header.storage_id))
      .field("largest_size", header.largest_size);
  json.key("copies").begin_array();
  for (const auto& copy : shadows->copies()) {
    json.begin_object()
        .field("number", copy.number)
        .field("created", core::to_string(copy.created))
        .field("store_id", to_string(copy.store_id))
        .field("volume_size", copy.volume_size)
        .field("in_volume", !header.elsewhere())
        .field("deleted", copy.deleted());
    const auto& store = copy.store;
    json.key("copy_id").value(store ? std::optional{to_string(store->copy_id)} : std::nullopt);
    json.key("set_id").value(store ? std::optional{to_string(store->set_id)} : std::nullopt);
    json.key("machine").value(named && store ? std::optional{store->machine} : std::nullopt);
    json.key("attributes").begin_array();
    if (store)
      for (const auto& name : ntfs::shadow_attribute_names(store->attributes)) json.value(name);
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

void write_shadow_text(Output& output, const ntfs::ShadowCopies& shadows) {
  const auto copies = shadows.copies();
  if (copies.empty()) return;
  print(output, "  {}:\n", counted(copies.size(), "shadow copy", "shadow copies"));
  for (const auto& copy : copies)
    print(output, "    {:>3}  {}  {}\n", copy.number, zoned_text_time(copy.created),
          describe(copy, shadows.header().elsewhere()));
}

}  // namespace coldtrace::cli
