#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"
#include "coldtrace/tracefile/providers/trace_schemas.hpp"

namespace coldtrace::tracefile {

// An event as a real-time consumer's callback gets it, in an EVENT_RECORD: the 80 bytes of its
// EVENT_HEADER, UserData, and type and data of each of its extended items. No file is needed.
// Source: Windows SDK evntcons.h.
class LiveEvent {
 public:
  // The bytes of header and payload must outlive it; those of the items need not. Fails if the
  // header is shorter than 80 bytes, or if an item has more than 65,527.
  static core::Result<LiveEvent> read(core::BorrowedBytes header, core::BorrowedBytes payload,
                                      std::span<const ExtendedItem> items = {});

  LiveEvent(LiveEvent&&) = default;
  LiveEvent& operator=(LiveEvent&&) = default;
  LiveEvent(const LiveEvent&) = delete;
  LiveEvent& operator=(const LiveEvent&) = delete;
  ~LiveEvent() = default;

  // For an EventDecoder, as long as this object lives.
  [[nodiscard]] const Event& event() const& { return event_; }
  [[nodiscard]] const Event& event() const&& = delete;

 private:
  LiveEvent() = default;

  std::vector<std::byte> extended_;  // as files have them
  Event event_{};
};

// The value of a field. Texts are valid UTF-8.
struct DecodedField {
  std::string path;   // "Flags", "Address.Port", "Frames[2]"
  std::string text;   // as `trace decode` writes it
  std::string names;  // of the value in its map; empty if it has none
};

// An event with all of its fields as text.
struct DecodedEvent {
  std::string provider, name;  // empty: not known
  Undecoded undecoded;
  Decoded decoded;
  std::size_t left;  // bytes of the payload after the fields
  std::vector<DecodedField> fields;
  bool cut;  // there are more fields, beyond what a payload of its size justifies
};

// Decodes one event. For many of them, keep an EventDecoder instead.
core::Result<DecodedEvent> decode_event(core::ByteView header, core::ByteView payload,
                                        const SchemaSource& schemas,
                                        std::span<const ExtendedItem> items = {});

}  // namespace coldtrace::tracefile
