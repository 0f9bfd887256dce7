#include "cli/ntfs/locate/locate_rows.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

std::string name_of_file(const ntfs::PlaceOwner& owner) {
  auto name = owner.path.empty() ? std::string{"a file without a name"} : printable(owner.path);
  if (!owner.stream.empty() && owner.type == ntfs::AttributeType::data)
    name += ":" + printable(owner.stream);
  return name;
}

// "/a/b.txt, byte 4096 of 70000, record 64-2, deleted"
std::string describe(const ntfs::PlaceOwner& owner) {
  auto text = name_of_file(owner);
  const bool data = owner.type == ntfs::AttributeType::data;
  if (!data && owner.type != ntfs::AttributeType::end)
    text += fmt::format(", {}", to_string(owner.type));
  switch (owner.part) {
    case ntfs::StreamPart::slack:
      text += ", after its end";
      break;
    case ntfs::StreamPart::not_valid:
      text += ", not written (reads as zeros)";
      break;
    case ntfs::StreamPart::compressed:
      text += ", compressed";
      break;
    case ntfs::StreamPart::content:
    case ntfs::StreamPart::unknown:
      break;
  }
  if (owner.position) text += fmt::format(", byte {}", *owner.position);
  if (owner.position && owner.size) text += fmt::format(" of {}", *owner.size);
  text += fmt::format(", record {}-{}", owner.file.record, owner.file.sequence);
  if (owner.state != ntfs::State::live) text += fmt::format(", {}", to_string(owner.state));
  if (owner.links > 1) text += fmt::format(", {} links", owner.links);
  return text;
}

std::string describe(const ntfs::RecordPlace& record) {
  auto text =
      fmt::format("byte {} of record {}, {}", record.at, record.record, to_string(record.part));
  if (!record.owner) return text;
  const auto& owner = *record.owner;
  if (owner.type != ntfs::AttributeType::end) text += fmt::format(" of {}", to_string(owner.type));
  if (owner.position) text += fmt::format(", byte {}", *owner.position);
  text += fmt::format(": {}", name_of_file(owner));
  if (owner.state != ntfs::State::live) text += fmt::format(", {}", to_string(owner.state));
  return text;
}

std::string where(const LocatedPlace& located) {
  auto text = located.asked.text;
  if (!located.offset) return text;
  text += fmt::format(" (byte {:#x}, sector {}", *located.offset,
                      *located.offset / located.sector_size);
  if (located.volume && located.volume->partition != 0)
    text += fmt::format(", partition {}", located.volume->partition);
  if (located.volume && located.volume->shadow != 0)
    text += fmt::format(", shadow copy {}", located.volume->shadow);
  if (located.place) text += fmt::format(", cluster {}", located.place->cluster);
  return text + ")";
}

}  // namespace

std::string located_text(const LocatedPlace& located) {
  auto text = fmt::format("{}: {}", where(located), holds(located));
  if (!located.partition_kind.empty()) text += fmt::format(" ({})", located.partition_kind);
  const auto* place = located.place;
  if (!place) return text + '\n';
  if (place->record) {
    text += fmt::format(": {}\n", describe(*place->record));
    return text;
  }
  bool first = true;
  for (const auto& owner : place->owners) {
    text += fmt::format("{}{}", first ? ": " : "\n  also ", describe(owner));
    first = false;
  }
  if (place->more_owners) text += "\n  and others";
  return text + '\n';
}

}  // namespace coldtrace::cli
