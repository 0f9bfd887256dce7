#include "cli/ntfs/volume_name.hpp"

#include <fmt/format.h>

#include "cli/output/csv_text.hpp"
#include "cli/output/json_text.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {

void write_volume_name(JsonWriter& json, const VolumeName& volume) {
  json.key("volume").begin_object().field("image", volume.image);
  json.key("partition")
      .value(volume.partition == 0 ? std::nullopt : std::optional{volume.partition});
  json.field("start", volume.start).end_object();
}

std::string volume_member(const VolumeName& volume, Int64 int64) {
  core::TextBuffer text;
  text.append(R"(,"volume":{"image":)");
  append_json_text(text, volume.image);
  text.append(R"(,"partition":)");
  if (volume.partition == 0)
    text.append("null");
  else
    text.append_decimal(u64{volume.partition});
  text.append(R"(,"start":)");
  append_json_integer(text, volume.start, int64);
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
  text.append(volume.partition == 0 ? fmt::format(",,{}", volume.start)
                                    : fmt::format(",{},{}", volume.partition, volume.start));
  return std::string{text.view()};
}

std::string path_prefix(u32 partition) {
  return partition == 0 ? std::string{} : fmt::format("/partition{}", partition);
}

}  // namespace coldtrace::cli
