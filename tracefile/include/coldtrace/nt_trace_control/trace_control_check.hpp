#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/nt_trace_control/trace_control_version.hpp"

namespace coldtrace::tracefile {

// The results that the document names. Source: values as in the Windows SDK, ntstatus.h.
enum class NtStatus : u32 {
  more_entries = 0x00000105,
  datatype_misalignment = 0x80000002,
  no_more_entries = 0x8000001a,
  unsuccessful = 0xc0000001,
  access_violation = 0xc0000005,
  invalid_parameter = 0xc000000d,
  invalid_device_request = 0xc0000010,
  no_memory = 0xc0000017,
  access_denied = 0xc0000022,
  buffer_too_small = 0xc0000023,
  invalid_buffer_size = 0xc0000206,
  wmi_instance_not_found = 0xc0000296,
  already_registered = 0xc0000718,
};

// "STATUS_INVALID_PARAMETER"
[[nodiscard]] std::string_view to_string(NtStatus status);

// What a check looks at, and the arguments that its row gives.
enum class CheckKind : u8 {
  user_input,         // user mode: the input buffer's address
  user_output,        // user mode: the output buffer's address
  user_return_null,   // user mode: ReturnSize is given
  user_return_size,   // user mode: ReturnSize's address
  kernel_arguments,   // kernel mode: what becomes of bad addresses, which the document omits
  double_buffer,      // memory for codes that are double-buffered
  code,               // the version has the function code
  lengths,            // least and most input, least and most output
  input_pointer,      // InBuffer is not NULL
  number_at_least,    // offset of a 32-bit number, least value
  number_has_bits,    // offset of a 32-bit number, bits that are all set
  number_in_input,    // offset of a 32-bit number that is at most the input's length
  entries,            // offset of a 32-bit count, bytes before the entries, bytes of each
  security_provider,  // offset of a GUID that is not SecurityProviderGuid
  boolean,            // offset of a byte that is 0 or 1
  missing_list,       // conditions that the document mentions but does not list
  state,              // state of the system: not decided by the arguments
};

// One check, in the document's order.
struct ControlCheck {
  u32 first_code;
  u32 last_code;
  KernelVersions versions;
  CheckKind kind;
  std::array<u64, 4> arguments;
  std::array<NtStatus, 2> statuses;  // what a failure returns
  u8 status_count;                   // 0 where the document names none
  bool stated;  // the document gives it for all these versions, not only from Windows 10's kernel
  std::string_view section;  // of the document; empty for that of the function code
  std::string_view text;     // what must hold

  [[nodiscard]] constexpr bool applies_to(u32 code, KernelVersion version) const {
    return code >= first_code && code <= last_code && versions.contains(version);
  }
  [[nodiscard]] std::span<const NtStatus> failure() const {
    return {statuses.data(), status_count};
  }
};

// All of them, in the document's order: first those of every function code.
[[nodiscard]] std::span<const ControlCheck> control_checks();

// The processor mode that the call comes from.
enum class CallerMode : u8 { user, kernel };

// What is known of an address passed to NtTraceControl.
enum class Argument : u8 {
  null,
  valid,    // or nothing known to be wrong with it
  invalid,  // not in user-mode address space, not aligned, or not writable where it must be
};

// A call of NtTraceControl, as far as it is known.
struct ControlCall {
  u32 code = 0;
  KernelVersion version = KernelVersion::v10_0;
  CallerMode mode = CallerMode::user;
  u32 input_length = 0;
  std::optional<u32> output_length;  // absent: not known
  Argument input_buffer = Argument::valid;
  Argument output_buffer = Argument::valid;
  Argument return_size = Argument::valid;
  std::optional<core::ByteView> input;  // its bytes; may be fewer than input_length
};

// What the checks say of a call.
enum class Outcome : u8 {
  passes,     // all documented checks of the arguments
  fails,      // a documented check
  undecided,  // a documented check depends on unknown contents of the buffers
  unknown,    // the document does not list the checks
};

[[nodiscard]] std::string_view to_string(Outcome outcome);

// The status that the document says a call returns.
struct ExpectedStatus {
  Outcome outcome = Outcome::passes;
  std::vector<NtStatus> statuses;       // one of these; empty unless it fails
  const ControlCheck* check = nullptr;  // the one that decided; null if all pass
  bool stated = false;                  // for this very version
  // Checks of the system's state along the way, assumed to pass.
  std::vector<const ControlCheck*> assumed;
};

// The documented checks in the documented order.
[[nodiscard]] ExpectedStatus expected_status(const ControlCall& call);

}  // namespace coldtrace::tracefile
