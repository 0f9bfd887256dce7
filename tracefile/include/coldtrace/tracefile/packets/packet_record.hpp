#pragma once

#include <array>
#include <bitset>
#include <string>

#include "coldtrace/tracefile/packets/captured_packet.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::tracefile {

// What an event of a packet capture tells.
// Sources: Microsoft-Windows-NDIS-PacketCapture, events 1001 to 1003 and 5101; Microsoft-Windows-
// PktMon, 20 to 75, 160 and 170.
enum class PacketRecordKind : u8 {
  fragment,         // bytes of a packet at a layer above an interface
  switch_fragment,  // the same at a port of a virtual switch
  metadata,         // of the next packet there
  interface_name,
  appearance,  // a packet at a component
  drop,        // the same for one that goes no further
  component,
  property,  // of a component
};

// Fields of such events, by their names.
enum class PacketField : u8 {
  miniport,     // MiniportIfIndex
  lower,        // LowerIfIndex
  port_id,      // SourcePortId
  port_name,    // SourcePortName
  nic_name,     // SourceNicName
  nic_type,     // SourceNicType
  fragment,     // Fragment
  metadata,     // Metadata
  oob_data,     // OOBData
  source_name,  // SourceName
  if_index,     // IfIndex
  group,        // PktGroupId
  number,       // PktNumber
  appearance,   // AppearanceCount
  direction,    // DirTag
  packet_type,  // PacketType
  component,    // ComponentId
  edge,         // EdgeId
  reason,       // DropReason
  location,     // DropLocation
  original,     // OriginalPayloadSize
  payload,      // Payload
  id,           // Id
  type,         // Type
  name,         // Name
  description,  // Description
  ip_address,   // IpAddress
  value,        // Value
};
constexpr std::size_t packet_fields = static_cast<std::size_t>(PacketField::value) + 1;

// Reads the fields of one event. One object for many events, as it keeps its memory.
class PacketRecord final : FieldVisitor {
 public:
  // Which kind an event is; nothing if it is not about packets.
  [[nodiscard]] static std::optional<PacketRecordKind> kind_of(const Event& event);

  // False if there is no schema, or if the payload ends before its last field.
  bool read(const Event& event, EventDecoder& decoder);

  [[nodiscard]] bool has(PacketField field) const { return present_[index(field)]; }
  [[nodiscard]] u64 number(PacketField field) const { return numbers_[index(field)]; }
  [[nodiscard]] u32 number32(PacketField field) const { return static_cast<u32>(number(field)); }
  [[nodiscard]] core::ByteView bytes(PacketField field) const { return bytes_[index(field)]; }
  // UTF-8.
  [[nodiscard]] std::string text(PacketField field) const;
  // The schema's map entry for a number; empty if it has none.
  [[nodiscard]] std::string mapped(PacketField field) const;

 private:
  static std::size_t index(PacketField field) { return static_cast<std::size_t>(field); }

  void value(const FieldSchema& field, const Value& value) override;
  void begin_array(const FieldSchema&) override { ++depth_; }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema&) override { ++depth_; }
  void end_structure() override { --depth_; }

  unsigned depth_ = 0;
  std::bitset<packet_fields> present_;
  std::array<u64, packet_fields> numbers_{};
  std::array<std::vector<std::byte>, packet_fields> bytes_;
  std::array<std::shared_ptr<const ValueMap>, packet_fields> maps_;
};

}  // namespace coldtrace::tracefile
