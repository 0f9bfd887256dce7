#include "coldtrace/ntfs/locate/place.hpp"

namespace coldtrace::ntfs {

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
