#include "coldtrace/nt_trace_control/trace_control_check.hpp"

#include <algorithm>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/nt_trace_control/trace_control_code.hpp"

namespace coldtrace::tracefile {
namespace {

using enum NtStatus;

constexpr auto v6_0 = KernelVersion::v6_0;
constexpr auto v6_1 = KernelVersion::v6_1;
constexpr auto v6_2 = KernelVersion::v6_2;
constexpr auto v6_3 = KernelVersion::v6_3;
constexpr auto v10_0 = KernelVersion::v10_0;
constexpr u32 any = ~u32{0};
constexpr u64 most = ~u32{0};
constexpr bool stated = true;
constexpr bool inspected = false;

// The same since 5.2, 32-bit and 64-bit. Source: Geoff Chappell, WMI_LOGGER_INFORMATION.
constexpr u64 size_of_logger_information = 0xb0;

constexpr auto security_provider_guid = *core::parse_guid("54849625-5478-4994-a5ba-3e3b0328c30d");

constexpr ControlCheck rows[] = {
#define ARGUMENTS(...) \
  {                    \
    { __VA_ARGS__ }    \
  }
#define STATUSES(...) \
  {{__VA_ARGS__}}, static_cast<u8>(std::initializer_list<NtStatus>{__VA_ARGS__}.size())
#define NO_STATUS \
  {}, u8 {        \
    0             \
  }
#define CONTROL_CHECK(first_code, last_code, first, last, kind, arguments, statuses, stated, \
                      section, text)                                                         \
  {first_code, last_code, {first, last}, CheckKind::kind, arguments, statuses,               \
   stated,     section,   text},
#include "tracefile/nt-trace-control/trace_control_checks.inc"
#undef CONTROL_CHECK
#undef NO_STATUS
#undef STATUSES
#undef ARGUMENTS
};

enum class Verdict : u8 {
  holds,
  fails,
  open,     // what it looks at is not known
  missing,  // what it looks at is not documented
  assumed,  // a matter of the system's state
};

constexpr Verdict verdict_of(bool holds) {
  return holds ? Verdict::holds : Verdict::fails;
}

// A call as the checks see it. In user mode a NULL buffer has no length; in kernel mode lengths
// are trusted as given.
class Evaluation {
 public:
  explicit Evaluation(const ControlCall& call)
      : call_{call},
        user_{call.mode == CallerMode::user},
        input_length_{length(call.input_buffer, call.input_length)},
        output_length_{call.output_length} {
    if (user_ && call.output_buffer == Argument::null) output_length_ = 0;
    if (call.input) input_ = call.input->first(std::min<u64>(call.input->size(), input_length_));
  }

  Verdict classify(const ControlCheck& check) const {
    switch (check.kind) {
      case CheckKind::user_input:
        return verdict_of(!user_ || good(call_.input_buffer, input_length_));
      case CheckKind::user_output:
        return verdict_of(!user_ || good(call_.output_buffer, output_length_.value_or(1)));
      case CheckKind::user_return_null:
        return verdict_of(!user_ || call_.return_size != Argument::null);
      case CheckKind::user_return_size:
        return verdict_of(!user_ || call_.return_size != Argument::invalid);
      case CheckKind::kernel_arguments:
        return user_ || trusted() ? Verdict::holds : Verdict::missing;
      case CheckKind::double_buffer:
        return uses_double_buffer() ? Verdict::assumed : Verdict::holds;
      case CheckKind::code:
        return verdict_of(has_code());
      case CheckKind::missing_list:
        return Verdict::missing;
      case CheckKind::state:
        return Verdict::assumed;
      default:
        return classify_buffers(check);
    }
  }

 private:
  Verdict classify_buffers(const ControlCheck& check) const {
    const auto& [first, second, third, fourth] = check.arguments;
    switch (check.kind) {
      case CheckKind::lengths:
        if (input_length_ < first || input_length_ > second) return Verdict::fails;
        if (!output_length_) return third == 0 && fourth == most ? Verdict::holds : Verdict::open;
        return verdict_of(*output_length_ >= third && *output_length_ <= fourth);
      case CheckKind::input_pointer:
        return verdict_of(call_.input_buffer != Argument::null);
      case CheckKind::security_provider:
        return classify_provider(first);
      case CheckKind::boolean: {
        const auto byte = core::load<u8>(input_, first);
        return byte ? verdict_of(*byte <= 1) : Verdict::open;
      }
      default:
        break;
    }
    const auto number = core::load<u32>(input_, first);
    if (!number) return Verdict::open;
    switch (check.kind) {
      case CheckKind::number_at_least:
        return verdict_of(*number >= second);
      case CheckKind::number_has_bits:
        return verdict_of((*number & second) == second);
      case CheckKind::number_in_input:
        return verdict_of(*number <= input_length_);
      default:  // entries: 32-bit counts of at most 16 bytes cannot wrap 64 bits
        return verdict_of(second + third * *number == input_length_);
    }
  }

  Verdict classify_provider(u64 offset) const {
    const auto bytes = core::slice(input_, offset, core::Guid::size_on_disk);
    return bytes ? verdict_of(core::to_guid(*bytes) != security_provider_guid) : Verdict::open;
  }

  u32 length(Argument buffer, u32 given) const {
    return user_ && buffer == Argument::null ? 0 : given;
  }

  static bool good(Argument buffer, u32 length) {
    return length == 0 || buffer != Argument::invalid;
  }

  bool trusted() const {
    return call_.return_size == Argument::valid && call_.input_buffer != Argument::invalid &&
           call_.output_buffer != Argument::invalid;
  }

  bool uses_double_buffer() const {
    const auto* code = find_control_code(call_.code);
    return (!code || code->double_buffered) && (input_length_ != 0 || output_length_ != 0U);
  }

  bool has_code() const {
    const auto* code = find_control_code(call_.code);
    return code && code->versions.contains(call_.version);
  }

  const ControlCall& call_;
  bool user_;
  u32 input_length_;
  std::optional<u32> output_length_;
  core::ByteView input_;  // as much of it as is known
};

void add_statuses(std::vector<NtStatus>& statuses, const ControlCheck& check) {
  for (const auto status : check.failure())
    if (std::find(statuses.begin(), statuses.end(), status) == statuses.end())
      statuses.push_back(status);
}

}  // namespace

std::string_view to_string(NtStatus status) {
  switch (status) {
    case more_entries:
      return "STATUS_MORE_ENTRIES";
    case datatype_misalignment:
      return "STATUS_DATATYPE_MISALIGNMENT";
    case no_more_entries:
      return "STATUS_NO_MORE_ENTRIES";
    case unsuccessful:
      return "STATUS_UNSUCCESSFUL";
    case access_violation:
      return "STATUS_ACCESS_VIOLATION";
    case invalid_parameter:
      return "STATUS_INVALID_PARAMETER";
    case invalid_device_request:
      return "STATUS_INVALID_DEVICE_REQUEST";
    case no_memory:
      return "STATUS_NO_MEMORY";
    case access_denied:
      return "STATUS_ACCESS_DENIED";
    case buffer_too_small:
      return "STATUS_BUFFER_TOO_SMALL";
    case invalid_buffer_size:
      return "STATUS_INVALID_BUFFER_SIZE";
    case wmi_instance_not_found:
      return "STATUS_WMI_INSTANCE_NOT_FOUND";
    case already_registered:
      return "STATUS_ALREADY_REGISTERED";
  }
  return "";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::passes:
      return "passes";
    case Outcome::fails:
      return "fails";
    case Outcome::undecided:
      return "undecided";
    case Outcome::unknown:
      return "unknown";
  }
  return "";
}

std::span<const ControlCheck> control_checks() {
  return rows;
}

ExpectedStatus expected_status(const ControlCall& call) {
  ExpectedStatus expectation;
  const bool inspected_version = call.version == v10_0;
  const Evaluation evaluation{call};
  const auto conclude = [&](Outcome outcome, const ControlCheck& check) {
    expectation.outcome = outcome;
    expectation.check = &check;
    expectation.stated = inspected_version || (outcome == Outcome::fails && check.stated);
  };
  expectation.stated = inspected_version;
  std::vector<NtStatus> earlier;  // of checks that may fail before the one that does
  for (const auto& check : rows) {
    if (!check.applies_to(call.code, call.version)) continue;
    switch (evaluation.classify(check)) {
      case Verdict::holds:
        break;
      case Verdict::assumed:
        expectation.assumed.push_back(&check);
        break;
      case Verdict::missing:
        conclude(Outcome::unknown, check);
        if (check.kind == CheckKind::kernel_arguments) return expectation;
        add_statuses(earlier, check);
        break;
      case Verdict::open:
        if (!expectation.check) conclude(Outcome::undecided, check);
        add_statuses(earlier, check);
        break;
      case Verdict::fails:
        conclude(Outcome::fails, check);
        expectation.statuses = std::move(earlier);
        add_statuses(expectation.statuses, check);
        return expectation;
    }
  }
  return expectation;
}

}  // namespace coldtrace::tracefile
