#include "coldtrace/ntfs/locate/place.hpp"

#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {
namespace {

bool is_of(const PlaceOwner& owner, SystemRecord record) {
  return owner.file.record == static_cast<u64>(record) && owner.stream.empty() &&
         owner.type == AttributeType::data;
}

Holds held_by(const PlaceOwner& owner) {
  const bool content = owner.type == AttributeType::data;
  if (owner.type == AttributeType::index_allocation && owner.stream == directory_index_name)
    return Holds::index;
  if (is_of(owner, SystemRecord::mft)) return Holds::mft;
  if (is_of(owner, SystemRecord::log_file)) return Holds::log;
  if (owner.system)
    return content && owner.path == "/$Extend/$UsnJrnl" && owner.stream == "$J" ? Holds::journal
                                                                                : Holds::system;
  if (!content) return Holds::metadata;
  return owner.part == StreamPart::slack ? Holds::slack : Holds::file;
}

}  // namespace

Holds holds_of(const Place& place) {
  if (place.record) return Holds::mft;
  if (!place.owners.empty()) {
    const auto& first = place.owners.front();
    return first.state == State::deleted ? Holds::deleted : held_by(first);
  }
  if (!place.allocated) return Holds::unknown;
  return *place.allocated ? Holds::unclaimed : Holds::free;
}

StreamPart part_at(bool compressed, u64 size, u64 valid, u64 position) {
  if (compressed) return StreamPart::compressed;
  if (position >= size) return StreamPart::slack;
  return position >= valid ? StreamPart::not_valid : StreamPart::content;
}

std::string_view to_string(StreamPart part) {
  switch (part) {
    case StreamPart::content:
      return "content";
    case StreamPart::not_valid:
      return "not_valid";
    case StreamPart::slack:
      return "slack";
    case StreamPart::compressed:
      return "compressed";
    case StreamPart::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(RecordPart part) {
  switch (part) {
    case RecordPart::header:
      return "header";
    case RecordPart::attribute:
      return "attribute";
    case RecordPart::value:
      return "value";
    case RecordPart::fixup:
      return "fixup";
    case RecordPart::unused:
      return "unused";
    case RecordPart::damaged:
      return "damaged";
    case RecordPart::never_used:
      return "never_used";
    case RecordPart::unknown:
      return "unknown";
  }
  return "damaged";
}

std::string_view to_string(Holds holds) {
  switch (holds) {
    case Holds::file:
      return "file";
    case Holds::slack:
      return "slack";
    case Holds::index:
      return "index";
    case Holds::metadata:
      return "metadata";
    case Holds::mft:
      return "mft";
    case Holds::journal:
      return "journal";
    case Holds::log:
      return "log";
    case Holds::system:
      return "system";
    case Holds::deleted:
      return "deleted";
    case Holds::free:
      return "free";
    case Holds::unclaimed:
      return "unclaimed";
    case Holds::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace coldtrace::ntfs
