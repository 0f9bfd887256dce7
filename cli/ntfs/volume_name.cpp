#include "cli/ntfs/volume_name.hpp"

namespace coldtrace::cli {

void write_volume_name(JsonWriter& json, const VolumeName& volume) {
  json.key("volume").begin_object().field("image", volume.image);
  json.key("partition")
      .value(volume.partition == 0 ? std::nullopt : std::optional{volume.partition});
  json.field("start", volume.start).end_object();
}

}  // namespace coldtrace::cli
