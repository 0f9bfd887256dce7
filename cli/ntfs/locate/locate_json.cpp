#include "cli/ntfs/locate/locate_rows.hpp"

namespace coldtrace::cli {
namespace {

void write_owner(JsonWriter& json, const ntfs::PlaceOwner& owner) {
  const bool mapped = owner.type != ntfs::AttributeType::end;
  json.begin_object();
  json.field("path", ExactText{text_or_null(owner.path)});
  json.field("record", owner.file.record)
      .field("sequence", owner.file.sequence)
      .field("state", to_string(owner.state))
      .field("directory", owner.directory)
      .field("links", owner.links);
  json.key("type").value(text_or_null(mapped ? to_string(owner.type) : std::string_view{}));
  json.field("stream", ExactText{text_or_null(owner.stream)});
  json.key("part").value(text_or_null(mapped ? to_string(owner.part) : std::string_view{}));
  json.key("position").value(owner.position);
  json.key("size").value(owner.size);
  json.end_object();
}

void write_record(JsonWriter& json, const ntfs::RecordPlace& record) {
  json.begin_object()
      .field("record", record.record)
      .field("at", record.at)
      .field("part", to_string(record.part))
      .key("owner");
  if (record.owner)
    write_owner(json, *record.owner);
  else
    json.value(nullptr);
  json.end_object();
}

}  // namespace

std::string_view holds(const LocatedPlace& located) {
  return located.place ? to_string(located.place->holds) : located.area;
}

void write_located_json(JsonWriter& json, const LocatedPlace& located) {
  const auto* place = located.place;
  json.field("asked", located.asked.text);
  json.key("offset").value(located.offset);
  json.key("sector").value(
      located.offset ? std::optional<u64>{*located.offset / located.sector_size} : std::nullopt);
  if (located.volume)
    write_volume_name(json, *located.volume);
  else
    json.field("volume", nullptr);
  json.key("cluster").value(place ? std::optional{place->cluster} : std::nullopt);
  json.field("holds", holds(located));
  json.key("partition_kind").value(text_or_null(located.partition_kind));
  json.key("allocated").value(place ? place->allocated : std::nullopt);
  json.key("owners").begin_array();
  if (place)
    for (const auto& owner : place->owners) write_owner(json, owner);
  json.end_array().field("more_owners", place && place->more_owners);
  json.key("mft_record");
  if (place && place->record)
    write_record(json, *place->record);
  else
    json.value(nullptr);
}

}  // namespace coldtrace::cli
