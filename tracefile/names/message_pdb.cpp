#include "coldtrace/tracefile/names/message_pdb.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u8 trace_group = 0x00;
constexpr u8 debug_identity = 0x40;  // DbgIdRSDS

}  // namespace

std::optional<MessagePdb> find_message_pdb(const Event& event) {
  if (event.kernel_group != trace_group || event.opcode != debug_identity) return std::nullopt;
  core::Reader in{event.payload, "DbgIdRSDS", 0};
  MessagePdb pdb;
  pdb.guid = core::to_guid(in.take(core::Guid::size_on_disk, "Guid"));
  pdb.age = in.read_u32("Age");
  if (!in.ok()) return std::nullopt;
  const auto rest = in.take(in.remaining(), "PdbName");
  if (rest.empty()) return std::nullopt;
  const auto path = core::read_c_string(rest, rest.size()).value_or(core::to_chars(rest));
  pdb.name = core::to_valid_utf8(path.substr(path.find_last_of("\\/") + 1));
  return pdb;
}

}  // namespace coldtrace::tracefile
