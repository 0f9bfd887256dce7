#include "cli/ntfs/rows/volume_name.hpp"

#include <fmt/format.h>

#include "cli/output/csv_text.hpp"
#include "cli/output/json_text.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {

void write_volume_name(JsonWriter& json, const VolumeName& volume) {
  json.key("volume").begin_object().field("image", volume.image);
  json.key("partition")
      .value(volume.partition == 0 ? std::nullopt : std::optional{volume.partition});
  json.field("start", volume.start);
  json.key("shadow").value(volume.shadow == 0 ? std::nullopt : std::optional{volume.shadow});
  json.end_object();
}

std::string volume_member(const VolumeName& volume, Int64 int64) {
  core::TextBuffer text;
  const auto append_number = [&](u32 number) {
    if (number == 0)
      text.append("null");
    else
      text.append_decimal(u64{number});
  };
  text.append(R"(,"volume":{"image":)");
  append_json_text(text, volume.image);
  text.append(R"(,"partition":)");
  append_number(volume.partition);
  text.append(R"(,"start":)");
  append_json_integer(text, volume.start, int64);
  text.append(R"(,"shadow":)");
  append_number(volume.shadow);
  text.append('}');
  return std::string{text.view()};
}

std::string volume_cells(const VolumeName& volume) {
  core::TextBuffer text;
  const auto image = core::to_valid_utf8(volume.image);
  if (needs_csv_quotes(image)) {
    text.append('"');
    append_doubled_quotes(text, image);
    text.append('"');
  } else {
    text.append(image);
  }
  const auto cell = [](u32 number) { return number == 0 ? "" : std::to_string(number); };
  text.append(fmt::format(",{},{},{}", cell(volume.partition), volume.start, cell(volume.shadow)));
  return std::string{text.view()};
}

std::string path_prefix(u32 partition, u32 shadow) {
  auto prefix = partition == 0 ? std::string{} : fmt::format("/partition{}", partition);
  if (shadow != 0) prefix += fmt::format("/shadow{}", shadow);
  return prefix;
}

std::string path_prefix(const VolumeName& volume) {
  return path_prefix(volume.partition, volume.shadow);
}

std::string volume_title(std::string_view image, u32 partition, u32 shadow) {
  std::string title{image};
  if (partition != 0) title += fmt::format(" partition {}", partition);
  if (shadow != 0) title += fmt::format(" shadow copy {}", shadow);
  return title;
}

}  // namespace coldtrace::cli
