#include "coldtrace/tracefile/packets/packet_interfaces.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::tracefile {
namespace {

using Field = PacketField;

// Properties of components. Source: the map PropertyType of the provider.
constexpr u64 property_if_index = 1;
constexpr u64 property_mac = 6;

std::string short_text(const PacketRecord& record, Field field) {
  auto text = record.text(field);
  return text.size() <= PacketInterfaces::longest_name ? text : std::string{};
}

template <std::size_t Size>
std::optional<std::array<std::byte, Size>> exact_bytes(core::ByteView bytes) {
  if (bytes.size() != Size) return std::nullopt;
  std::array<std::byte, Size> copy;
  std::ranges::copy(bytes, copy.begin());
  return copy;
}

template <class Key, class Value>
Value* find_or_add(std::map<Key, Value>& map, const Key& key) {
  const auto found = map.find(key);
  if (found != map.end()) return &found->second;
  if (map.size() >= PacketInterfaces::most_places) return nullptr;
  return &map[key];
}

template <class Address>
void add_once(std::vector<Address>& addresses, const std::optional<Address>& address) {
  if (address && addresses.size() < PacketInterfaces::most_addresses &&
      std::ranges::find(addresses, *address) == addresses.end())
    addresses.push_back(*address);
}

void add_part(std::string& text, std::string_view part) {
  if (part.empty()) return;
  if (!text.empty()) text += ", ";
  text += part;
}

}  // namespace

void PacketInterfaces::learn(PacketRecordKind kind, const PacketRecord& record) {
  switch (kind) {
    case PacketRecordKind::interface_name:
      if (auto* name = find_or_add(layers_, record.number32(Field::if_index)))
        *name = short_text(record, Field::source_name);
      break;
    case PacketRecordKind::component:
      if (auto* component = find_or_add(components_, record.number32(Field::id))) {
        component->name = short_text(record, Field::name);
        component->description = short_text(record, Field::description);
        component->type = record.mapped(Field::type);
      }
      break;
    case PacketRecordKind::property:
      learn_property(record);
      break;
    case PacketRecordKind::switch_fragment:
      if (auto* port = find_or_add(
              switch_ports_, {record.number32(Field::lower), record.number32(Field::port_id)});
          port != nullptr && port->port.empty())
        *port = {short_text(record, Field::port_name), short_text(record, Field::nic_name),
                 short_text(record, Field::nic_type)};
      [[fallthrough]];
    case PacketRecordKind::fragment:
      if (auto* miniport = find_or_add(miniports_, record.number32(Field::lower)))
        *miniport = record.number32(Field::miniport);
      break;
    default:
      break;
  }
}

void PacketInterfaces::learn_property(const PacketRecord& record) {
  auto* component = find_or_add(components_, record.number32(Field::component));
  if (component == nullptr) return;
  if (record.has(Field::ip_address)) {
    const auto bytes = record.bytes(Field::ip_address);
    if (bytes.size() == 16) return add_once(component->ipv6, exact_bytes<16>(bytes));
    std::array<std::byte, 4> address;
    for (unsigned i = 0; i < 4; ++i)
      address[i] = static_cast<std::byte>(record.number(Field::ip_address) >> (8 * i));
    return add_once(component->ipv4, std::optional{address});
  }
  const auto type = record.number(Field::type);
  if (type == property_if_index) component->if_index = record.number32(Field::value);
  if (type == property_mac) component->mac = exact_bytes<6>(record.bytes(Field::value));
}

PacketInterface PacketInterfaces::describe(const PacketPlace& place) const {
  PacketInterface found;
  if (place.kind == PacketPlace::Kind::component) {
    found.name = fmt::format("component {}", place.id);
    const auto known = components_.find(place.id);
    if (known == components_.end()) return found;
    const auto& component = known->second;
    if (!component.name.empty()) found.name = fmt::format("{} ({})", component.name, found.name);
    add_part(found.description, component.description);
    add_part(found.description, component.type);
    if (component.if_index)
      add_part(found.description, fmt::format("interface {}", *component.if_index));
    found.mac = component.mac;
    found.ipv4 = component.ipv4;
    found.ipv6 = component.ipv6;
    return found;
  }
  found.name = fmt::format("interface {}", place.id);
  if (const auto name = layers_.find(place.id); name != layers_.end() && !name->second.empty())
    found.name = fmt::format("{} ({})", name->second, found.name);
  if (place.kind == PacketPlace::Kind::switch_port) {
    found.name = fmt::format("port {} of {}", place.port, found.name);
    if (const auto port = switch_ports_.find({place.id, place.port}); port != switch_ports_.end()) {
      add_part(found.description, port->second.port);
      add_part(found.description, port->second.nic);
      add_part(found.description, port->second.type);
    }
  }
  if (const auto miniport = miniports_.find(place.id);
      miniport != miniports_.end() && miniport->second != place.id)
    add_part(found.description, fmt::format("above interface {}", miniport->second));
  return found;
}

}  // namespace coldtrace::tracefile
