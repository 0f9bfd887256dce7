#include "tracefile/export/ctf_stream.hpp"

#include <algorithm>

#include "tracefile/export/ctf_fields.hpp"

namespace coldtrace::trace_export {

// Source: CTF 1.8.3, "Event Packet Header" and "Event Packet Context"; the fields are those that
// ctf_metadata.cpp declares.
bool CtfStream::add(CtfEvent event, i64 time, std::string_view fields) {
  const bool is_early = time < last_;
  if (body_.size() + fields.size() > packet_size) flush();
  last_ = std::max(last_, time);
  if (body_.empty()) first_ = last_;
  CtfFields{body_}.number(static_cast<u16>(event)).number(static_cast<u64>(last_)).bytes(fields);
  return is_early;
}

void CtfStream::lose() {
  flush();
  ++lost_;
}

void CtfStream::flush() {
  if (body_.empty()) return;
  constexpr std::size_t header_size = 4 + 16 + 4;
  const std::size_t context_size = 5 * 8 + (cpu_ ? 4U : 0U);
  const u64 bits = 8 * u64{header_size + context_size + body_.size()};
  packet_.clear();
  CtfFields packet{packet_};
  packet.number(u32{0xc1fc'1fc1}).bytes({id_.data(), id_.size()}).number(cpu_ ? u32{0} : u32{1});
  packet.number(static_cast<u64>(first_)).number(static_cast<u64>(last_));
  packet.number(bits).number(bits).number(lost_);
  if (cpu_) packet.number(*cpu_);
  packet.bytes(body_);
  write_(name_, packet_);
  body_.clear();
}

}  // namespace coldtrace::trace_export
