#include "coldtrace/tracefile/packets/packet_record.hpp"

#include <algorithm>

#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr auto ndis = *core::parse_guid("2ed6006e-4729-4609-b423-3ee7bcd678ef");
constexpr auto pktmon = *core::parse_guid("4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac");

// In the order of PacketField.
constexpr std::array<std::string_view, packet_fields> names = {"MiniportIfIndex",
                                                               "LowerIfIndex",
                                                               "SourcePortId",
                                                               "SourcePortName",
                                                               "SourceNicName",
                                                               "SourceNicType",
                                                               "Fragment",
                                                               "Metadata",
                                                               "OOBData",
                                                               "SourceName",
                                                               "IfIndex",
                                                               "PktGroupId",
                                                               "PktNumber",
                                                               "AppearanceCount",
                                                               "DirTag",
                                                               "PacketType",
                                                               "ComponentId",
                                                               "EdgeId",
                                                               "DropReason",
                                                               "DropLocation",
                                                               "OriginalPayloadSize",
                                                               "Payload",
                                                               "Id",
                                                               "Type",
                                                               "Name",
                                                               "Description",
                                                               "IpAddress",
                                                               "Value"};

std::optional<PacketRecordKind> ndis_kind(u16 id) {
  switch (id) {
    case 1001:
      return PacketRecordKind::fragment;
    case 1002:
      return PacketRecordKind::metadata;
    case 1003:
      return PacketRecordKind::switch_fragment;
    case 5101:
      return PacketRecordKind::interface_name;
    default:
      return std::nullopt;
  }
}

std::optional<PacketRecordKind> pktmon_kind(u16 id) {
  switch (id) {
    case 20:
      return PacketRecordKind::component;
    case 30:
    case 65:
    case 66:
    case 70:
      return PacketRecordKind::property;
    case 160:
      return PacketRecordKind::appearance;
    case 170:
      return PacketRecordKind::drop;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<PacketRecordKind> PacketRecord::kind_of(const Event& event) {
  if (event.event_class != EventClass::manifest) return std::nullopt;
  if (event.provider == ndis) return ndis_kind(event.id);
  if (event.provider == pktmon) return pktmon_kind(event.id);
  return std::nullopt;
}

bool PacketRecord::read(const Event& event, EventDecoder& decoder) {
  present_.reset();
  depth_ = 0;
  const auto decoded = decoder.decode(event, decoder.kind_of(event), *this).decoded;
  return decoded == Decoded::exact || decoded == Decoded::trailing;
}

void PacketRecord::value(const FieldSchema& field, const Value& value) {
  if (depth_ > 0) return;
  const auto name = std::ranges::find(names, std::string_view{field.name});
  if (name == names.end()) return;
  const auto at = static_cast<std::size_t>(name - names.begin());
  present_.set(at);
  numbers_[at] = value.number;
  bytes_[at].assign(value.bytes.begin(), value.bytes.end());
  maps_[at] = field.map;
}

std::string PacketRecord::text(PacketField field) const {
  return has(field) ? core::decode_utf16(core::until_nul_unit(bytes(field))).utf8 : std::string{};
}

std::string PacketRecord::mapped(PacketField field) const {
  if (!has(field) || !maps_[index(field)]) return {};
  auto name = find_mapped_names(*maps_[index(field)], number(field));
  // Maps of manifests end their texts so.
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name;
}

}  // namespace coldtrace::tracefile
