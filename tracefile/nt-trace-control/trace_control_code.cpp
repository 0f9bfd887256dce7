#include "coldtrace/nt_trace_control/trace_control_code.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr auto v6_0 = KernelVersion::v6_0;
constexpr auto v6_2 = KernelVersion::v6_2;
constexpr auto v6_3 = KernelVersion::v6_3;
constexpr auto v10_0 = KernelVersion::v10_0;
constexpr bool microsoft = true;
constexpr bool described = false;
constexpr bool double_buffer = true;
constexpr bool direct = false;

constexpr ControlCode rows[] = {
#define CONTROL_CODE(code, name, naming, first, buffering, input_structure, output_structure, \
                     section, input, output, access)                                          \
  {code,                                                                                      \
   name,                                                                                      \
   naming,                                                                                    \
   {first, v10_0},                                                                            \
   buffering,                                                                                 \
   ControlStructure::input_structure,                                                         \
   ControlStructure::output_structure,                                                        \
   section,                                                                                   \
   input,                                                                                     \
   output,                                                                                    \
   access},
#include "tracefile/nt-trace-control/trace_control_codes.inc"
#undef CONTROL_CODE
};

}  // namespace

std::span<const ControlCode> control_codes() {
  return rows;
}

const ControlCode* find_control_code(u32 code) {
  for (const auto& row : rows)
    if (row.code == code) return &row;
  return nullptr;
}

}  // namespace coldtrace::tracefile
