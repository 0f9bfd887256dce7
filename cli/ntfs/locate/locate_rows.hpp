#pragma once

#include <optional>
#include <string>

#include "cli/ntfs/locate/asked_places.hpp"
#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/ntfs/locate/place.hpp"

namespace coldtrace::cli {

// The answer to one place that was asked for.
struct LocatedPlace {
  const AskedPlace& asked;
  std::optional<u64> offset;  // nothing of a number that no disk has
  u32 sector_size;
  const VolumeName* volume = nullptr;  // null where the byte is in none that was opened
  const ntfs::Place* place = nullptr;  // null outside of clusters
  std::string_view area;               // what is there then
  std::string_view partition_kind;     // of a partition that holds something else
};

// What the place holds: a word of the table in docs/commands/ntfs-locate.md.
std::string_view holds(const LocatedPlace& located);

// The members of a line, behind its type.
void write_located_json(JsonWriter& json, const LocatedPlace& located);
std::string located_text(const LocatedPlace& located);

}  // namespace coldtrace::cli
