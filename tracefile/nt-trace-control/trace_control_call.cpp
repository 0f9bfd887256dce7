#include "coldtrace/nt_trace_control/trace_control_call.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

enum Parameter : std::size_t {
  function_code,
  in_buffer,
  in_buffer_length,
  out_buffer,
  out_buffer_length,
  return_size,
};

std::optional<u32> to_u32(std::optional<u64> argument) {
  if (!argument) return std::nullopt;
  return static_cast<u32>(*argument);
}

Argument to_argument(std::optional<u64> address, u8 pointer_size) {
  if (!address) return Argument::valid;
  const u64 mask = pointer_size == 4 ? ~u32{0} : ~u64{0};
  return (*address & mask) == 0 ? Argument::null : Argument::valid;
}

}  // namespace

std::optional<u32> LoggedControlCall::code() const {
  return to_u32(arguments[function_code]);
}

ExpectedStatus expected_status(const LoggedControlCall& logged, KernelVersion version) {
  const auto code = logged.code();
  const auto input_length = to_u32(logged.arguments[in_buffer_length]);
  ExpectedStatus undecided;
  undecided.outcome = Outcome::undecided;
  if (!code || !input_length) return undecided;
  const auto address = [&](Parameter parameter) {
    return to_argument(logged.arguments[parameter], logged.pointer_size);
  };
  ControlCall call;
  call.code = *code;
  call.version = version;
  call.input_length = *input_length;
  call.output_length = to_u32(logged.arguments[out_buffer_length]);
  call.input_buffer = address(in_buffer);
  call.output_buffer = address(out_buffer);
  call.return_size = address(return_size);
  auto user = expected_status(call);
  call.mode = CallerMode::kernel;
  const auto kernel = expected_status(call);
  if (user.outcome != kernel.outcome) return undecided;
  for (const auto status : kernel.statuses)
    if (std::find(user.statuses.begin(), user.statuses.end(), status) == user.statuses.end())
      user.statuses.push_back(status);
  return user;
}

}  // namespace coldtrace::tracefile
