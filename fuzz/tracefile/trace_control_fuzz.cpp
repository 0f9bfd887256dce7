// The first four bytes choose function code, version, direction and caller, and an output length;
// the rest is the buffer. Any bytes: fields, findings and the rest lie inside the buffer, no two
// numbers of one field differ from the buffer's own, and the expected status keeps its promises.

#include <cstdint>
#include <span>

#include "coldtrace/nt_trace_control/trace_control_buffer.hpp"
#include "coldtrace/nt_trace_control/trace_control_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  using namespace coldtrace::tracefile;
  constexpr std::size_t choices = 4;
  if (size < choices) return 0;
  const auto bytes = std::as_bytes(std::span{data, size}).subspan(choices);
  const auto version = kernel_versions[data[1] % kernel_versions.size()];
  const auto direction = data[2] & 1 ? ControlDirection::output : ControlDirection::input;

  const auto buffer = decode_control_buffer(data[0], version, direction, bytes);
  for (const auto& field : buffer.fields) {
    const auto place = core::slice(bytes, field.offset, size_of(field.type));
    if (!place) __builtin_trap();
    if (field.type == ControlType::u32 && core::load<u32>(*place, 0) != field.number)
      __builtin_trap();
  }
  for (const auto& finding : buffer.findings.all())
    if (finding.first_offset > bytes.size()) __builtin_trap();
  if (buffer.rest_offset + buffer.rest_size != bytes.size()) __builtin_trap();

  ControlCall call{.code = data[0], .version = version};
  call.mode = data[2] & 2 ? CallerMode::kernel : CallerMode::user;
  call.input_length = static_cast<u32>(bytes.size());
  if (data[2] & 4) call.output_length = data[3] * 2U;
  if (data[2] & 8) call.input_buffer = Argument::null;
  call.input = bytes;
  const auto expectation = expected_status(call);
  const bool fails = expectation.outcome == Outcome::fails;
  if (fails == expectation.statuses.empty()) __builtin_trap();
  if ((expectation.outcome == Outcome::passes) != (expectation.check == nullptr)) __builtin_trap();
  return 0;
}
