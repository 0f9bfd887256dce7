#include "coldtrace/tracefile/packets/connection_owners.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr auto kernel_network = *core::parse_guid("7dd42a49-5329-4832-8dfd-43d979153a88");
constexpr u8 tcp = 6, udp = 17;

// TCP by "TcpIp/SendIPV4" and "KERNEL_NETWORK_TASK_TCPIP/Datasent.".
std::optional<u8> protocol_of(const EventKind& kind) {
  const std::string_view name{kind.name};
  if (kind.event_class == EventClass::classic) {
    if (name.starts_with("TcpIp/")) return tcp;
    if (name.starts_with("UdpIp/")) return udp;
  } else if (kind.event_class == EventClass::manifest && kind.provider == kernel_network) {
    if (name.find("TCPIP") != std::string_view::npos) return tcp;
    if (name.find("UDPIP") != std::string_view::npos) return udp;
  }
  return std::nullopt;
}

// Whether the event is of what came in, whose source is the remote end.
bool is_received(std::string_view name) {
  const auto event = name.substr(std::min(name.find('/'), name.size()));
  return event.starts_with("/Recv") || event.starts_with("/Datareceived");
}

class Ends final : public FieldVisitor {
 public:
  ConnectionEnd source, destination;
  std::optional<u32> pid;
  unsigned found = 0;
  bool ipv6 = false;

  void value(const FieldSchema& field, const Value& value) override {
    const std::string_view name{field.name};
    if (name == "PID") pid = static_cast<u32>(value.number);
    if (name == "saddr") address(source, value);
    if (name == "daddr") address(destination, value);
    if (name == "sport") port(source, value);
    if (name == "dport") port(destination, value);
  }
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}

 private:
  void address(ConnectionEnd& end, const Value& value) {
    ++found;
    if (value.bytes.size() == end.address.size()) {
      ipv6 = true;
      std::ranges::copy(value.bytes, end.address.begin());
      return;
    }
    for (unsigned i = 0; i < 4; ++i) end.address[i] = static_cast<std::byte>(value.number >> 8 * i);
  }
  // In the network's order.
  void port(ConnectionEnd& end, const Value& value) {
    ++found;
    end.port = static_cast<u16>((value.number & 0xff) << 8 | (value.number >> 8 & 0xff));
  }
};

}  // namespace

void ConnectionOwners::add(const Event& event, const EventContext& context, EventDecoder& decoder) {
  const auto& kind = decoder.kind_of(event);
  const auto protocol = protocol_of(kind);
  if (!protocol || !kind.schema) return;
  const auto time = time_of(event, context.clock);
  Ends ends;
  static_cast<void>(decoder.decode(event, kind, ends));
  if (!time || !ends.pid || ends.found != 4) return;
  // The addresses of TCP events are those of the connection, of UDP events those of the packet.
  if (*protocol == udp && is_received(kind.name)) std::swap(ends.source, ends.destination);
  const auto name = context.names.get().find_process(*ends.pid, event.name_time());
  Owner owner{*ends.pid, std::string{name.value_or(std::string_view{})}};
  const Connection connection{*protocol, ends.ipv6, ends.source, ends.destination};
  const auto known = spans_.find(connection);
  if (known != spans_.end() && known->second.back().owner == owner) return;
  if (count_ >= most) {
    ++left_out_;
    return;
  }
  ++count_;
  spans_[connection].push_back({*time, std::move(owner)});
}

std::optional<ConnectionOwners::Owner> ConnectionOwners::find(const Connection& connection,
                                                              core::FileTime time) const {
  const auto known = spans_.find(connection);
  if (known == spans_.end()) return std::nullopt;
  const auto& spans = known->second;
  const Span* found = nullptr;
  for (const auto& span : spans)
    if (span.from <= time && (found == nullptr || found->from <= span.from)) found = &span;
  return found != nullptr ? found->owner : spans.front().owner;
}

void ConnectionOwners::report(core::Findings& findings) const {
  if (left_out_ > 0)
    findings.info("packet-owners", std::nullopt,
                  "{} beyond the {} whose processes are remembered: {} packets name no process",
                  core::counted(left_out_, "event of a connection is", "events of connections are"),
                  most, left_out_ == 1 ? "its" : "their");
}

}  // namespace coldtrace::tracefile
