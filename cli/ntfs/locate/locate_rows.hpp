#pragma once

#include <optional>
#include <string>

#include "cli/ntfs/locate/asked_places.hpp"
#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/ntfs/locate/place.hpp"

namespace coldtrace::cli {

// The answer for one requested place.
struct LocatedPlace {
  const AskedPlace& asked;
  std::optional<u64> offset;  // nothing for a number beyond any disk
  u32 sector_size;
  const VolumeName* volume = nullptr;  // null if the byte is in none that was opened
  const ntfs::Place* place = nullptr;  // null outside clusters
  std::string_view area;               // what is there instead
  std::string_view partition_kind;     // of a partition with something else
};

// What is at the place: a word of the table in docs/commands/ntfs-locate.md.
std::string_view holds(const LocatedPlace& located);

// The members of a line, after its type.
void write_located_json(JsonWriter& json, const LocatedPlace& located);
std::string located_text(const LocatedPlace& located);

}  // namespace coldtrace::cli
