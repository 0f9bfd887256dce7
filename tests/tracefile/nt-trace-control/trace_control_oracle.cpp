#include "tests/tracefile/nt-trace-control/trace_control_oracle.hpp"

#include <fmt/format.h>

namespace coldtrace::tests {
namespace {

using Address = ControlCase::Address;

constexpr u32 datatype_misalignment = 0x80000002;
constexpr u32 access_violation = 0xc0000005;
constexpr u32 invalid_parameter = 0xc000000d;
constexpr u32 invalid_device_request = 0xc0000010;
constexpr u32 access_denied = 0xc0000022;
constexpr u32 invalid_buffer_size = 0xc0000206;

std::string returns(u32 status) {
  return fmt::format("{:08x}", status);
}

std::string passes_unless(bool wrong) {
  return wrong ? returns(invalid_parameter) : "passes";
}

const std::string raised = fmt::format("{:08x} {:08x}", datatype_misalignment, access_violation);

// Little-endian, from what is known of the input; nothing when that ends before it does.
std::optional<u64> number(const ControlCase& call, u64 offset, u64 size) {
  if (!call.input || offset + size > call.in_buffer_len || offset + size > call.input->size())
    return std::nullopt;
  u64 value = 0;
  for (u64 i = 0; i < size; ++i)
    value += std::to_integer<u64>((*call.input)[offset + i]) << (8 * i);
  return value;
}

// "Valid Function Codes": the table.
bool is_valid(u32 code, int version) {
  if (code >= 0x01 && code <= 0x05) return true;
  if (code >= 0x0b && code <= 0x18) return true;
  if (code == 0x19 || code == 0x1a) return version >= 602;
  if (code == 0x1b) return version >= 603;
  return version >= 1000 && (code == 0x1c || (code >= 0x1e && code <= 0x22));
}

// "EtwStartLoggerCode (0x01) to EtwFlushLoggerCode (0x05) Inclusive"
std::string logger_codes(const ControlCase& call) {
  // "If either the input or output buffer is too small for this structure"
  if (call.in_buffer_len < 0xb0 || call.out_buffer_len < 0xb0) return returns(invalid_buffer_size);
  // "If InBuffer is NULL"
  if (call.in_buffer == Address::null) return returns(invalid_parameter);
  const auto buffer_size = number(call, 0x00, 4);
  const auto flags = number(call, 0x2c, 4);
  if (!buffer_size || !flags) return "undecided";
  // "If this is too small even for the fixed-size WMI_LOGGER_INFORMATION"
  if (*buffer_size < 0xb0) return returns(invalid_buffer_size);
  // "do not have the WNODE_FLAG_TRACED_GUID (0x00020000) bit set"
  if ((*flags >> 17) % 2 == 0) return returns(invalid_parameter);
  // "If BufferSize is larger than InBufferLen"
  return *buffer_size > call.in_buffer_len ? returns(invalid_buffer_size) : "passes";
}

// "Function Code 0x0F": the conditions are lost, what follows about SecurityProviderGuid is not.
std::string registration(const ControlCase& call) {
  const auto first = number(call, 0, 4);
  const auto second = number(call, 4, 2);
  const auto third = number(call, 6, 2);
  if (!number(call, 15, 1) || first != 0x54849625U || second != 0x5478U || third != 0x4994U)
    return "unknown";
  const u8 tail[] = {0xa5, 0xba, 0x3e, 0x3b, 0x03, 0x28, 0xc3, 0x0d};
  for (u64 i = 0; i < 8; ++i)
    if (number(call, 8 + i, 1) != tail[i]) return "unknown";
  return returns(invalid_parameter) + " " + returns(access_denied);
}

// "Function Code 0x1C"
std::string disallow_list(const ControlCase& call) {
  if (call.in_buffer_len < 8) return returns(invalid_parameter);
  const auto count = number(call, 4, 4);
  if (!count) return "undecided";
  u64 total = 8;
  for (u64 i = 0; i < *count && total <= call.in_buffer_len; ++i) total += 0x10;
  return passes_unless(total != call.in_buffer_len);
}

std::string by_code(const ControlCase& call) {
  const u32 in = call.in_buffer_len;
  const u32 out = call.out_buffer_len;
  switch (call.code) {
    case 0x01:
    case 0x02:
    case 0x03:
    case 0x04:
    case 0x05:
      return logger_codes(call);
    case 0x0b: {  // "not both exactly the expected size"
      const u32 expected = call.version == 600 ? 0x20 : call.version <= 602 ? 0x50 : 0x60;
      return passes_unless(in != expected || out != expected);
    }
    case 0x0c:  // "(In versions 6.0 to 6.1 [...] the input buffer also must be exactly 0x10
                // bytes.)"
      return passes_unless(out != 0x10 || (call.version <= 601 && in != 0x10));
    case 0x0d:  // "exactly 0x30 bytes or if any output buffer is given"
      return passes_unless(in != 0x30 || out > 0);
    case 0x0e:  // "exactly 8 bytes or if any output buffer is given"
      return passes_unless(in != 8 || out > 0);
    case 0x0f:
      return registration(call);
    case 0x10:  // lists that are lost
    case 0x11:
    case 0x12:
    case 0x1b:
      return "unknown";
    case 0x1f: {  // another, but "anything but TRUE or FALSE" fails
      const auto setting = number(call, 8, 1);
      return setting && *setting != 0 && *setting != 1 ? returns(invalid_parameter) : "unknown";
    }
    case 0x13:  // "exactly 8 bytes"
    case 0x1a:
    case 0x22:
      return passes_unless(in != 8);
    case 0x14:  // "If given any input or output buffer"
    case 0x18:
      return passes_unless(in > 0 || out > 0);
    case 0x16:  // "exactly 0x10 bytes"
    case 0x21:
      return passes_unless(in != 0x10);
    case 0x19:  // "not exactly 4 bytes or [...] exactly the 0x10 bytes of an ETW_REF_CLOCK"
      return passes_unless(in != 4 || out != 0x10);
    case 0x1c:
      return disallow_list(call);
    case 0x1e:  // "between 0x78 and 0x00010000 bytes inclusive"
      return passes_unless(in != 0x18 || !(0x78 <= out && out <= 0x00010000));
    default:  // 0x15, 0x17, 0x20: "no immediate buffer validation"
      return "passes";
  }
}

}  // namespace

std::string documented_answer(const ControlCase& given) {
  auto call = given;
  if (!call.kernel_mode) {
    // "can be NULL [...] in which case InBufferLen is ignored (literally, treated as zero)"
    if (call.in_buffer == Address::null) call.in_buffer_len = 0;
    if (call.out_buffer == Address::null) call.out_buffer_len = 0;
    if (call.in_buffer == Address::bad && call.in_buffer_len > 0) return raised;
    if (call.out_buffer == Address::bad && call.out_buffer_len > 0) return raised;
    if (call.return_size == Address::null) return returns(invalid_parameter);
    if (call.return_size == Address::bad) return raised;
  } else if (call.return_size != Address::good || call.in_buffer == Address::bad ||
             call.out_buffer == Address::bad) {
    return "unknown";  // "This means in particular that:" and the list is lost
  }
  if (!is_valid(call.code, call.version)) return returns(invalid_device_request);
  return by_code(call);
}

}  // namespace coldtrace::tests
