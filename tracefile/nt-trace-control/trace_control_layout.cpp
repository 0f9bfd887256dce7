#include "coldtrace/nt_trace_control/trace_control_layout.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr auto v6_0 = KernelVersion::v6_0;
constexpr auto v6_1 = KernelVersion::v6_1;
constexpr auto v6_2 = KernelVersion::v6_2;
constexpr auto v6_3 = KernelVersion::v6_3;
constexpr auto v10_0 = KernelVersion::v10_0;

constexpr ControlLayout layouts[] = {
#define CONTROL_LAYOUT(structure, name, size, first, last, source) \
  {ControlStructure::structure, name, size, {first, last}, source},
#define CONTROL_FIELD(structure, offset, type, name, first, last, use, remark)
#define CONTROL_PART(structure, offset, inner, name, first, last, use, remark)
#define CONTROL_VALUE(structure, offset, value, name)
#include "tracefile/nt-trace-control/trace_control_layouts.inc"
#undef CONTROL_LAYOUT
#undef CONTROL_FIELD
#undef CONTROL_PART
#undef CONTROL_VALUE
};

constexpr ControlField fields[] = {
#define CONTROL_LAYOUT(structure, name, size, first, last, source)
#define CONTROL_FIELD(structure, offset, type, name, first, last, use, remark) \
  {ControlStructure::structure,                                                \
   offset,                                                                     \
   ControlType::type,                                                          \
   ControlStructure::none,                                                     \
   name,                                                                       \
   {first, last},                                                              \
   ControlUse::use,                                                            \
   remark},
#define CONTROL_PART(structure, offset, inner, name, first, last, use, remark) \
  {ControlStructure::structure,                                                \
   offset,                                                                     \
   ControlType::part,                                                          \
   ControlStructure::inner,                                                    \
   name,                                                                       \
   {first, last},                                                              \
   ControlUse::use,                                                            \
   remark},
#define CONTROL_VALUE(structure, offset, value, name)
#include "tracefile/nt-trace-control/trace_control_layouts.inc"
#undef CONTROL_LAYOUT
#undef CONTROL_FIELD
#undef CONTROL_PART
#undef CONTROL_VALUE
};

constexpr ControlValue values[] = {
#define CONTROL_LAYOUT(structure, name, size, first, last, source)
#define CONTROL_FIELD(structure, offset, type, name, first, last, use, remark)
#define CONTROL_PART(structure, offset, inner, name, first, last, use, remark)
#define CONTROL_VALUE(structure, offset, value, name) \
  {ControlStructure::structure, offset, value, name},
#include "tracefile/nt-trace-control/trace_control_layouts.inc"
#undef CONTROL_LAYOUT
#undef CONTROL_FIELD
#undef CONTROL_PART
#undef CONTROL_VALUE
};

}  // namespace

std::string_view to_string(ControlType type) {
  constexpr std::string_view names[] = {"u8",  "u16",  "u32",   "u64", "i32",
                                        "i64", "guid", "bytes", "part"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view to_string(ControlUse use) {
  constexpr std::string_view names[] = {"input", "output", "both", "unused"};
  return names[static_cast<std::size_t>(use)];
}

std::span<const ControlLayout> control_layouts() {
  return layouts;
}

std::span<const ControlField> control_fields() {
  return fields;
}

const ControlLayout* find_control_layout(ControlStructure structure, KernelVersion version) {
  for (const auto& layout : layouts)
    if (layout.structure == structure && layout.versions.contains(version)) return &layout;
  return nullptr;
}

u16 size_of(ControlType type) {
  constexpr u16 sizes[] = {1, 2, 4, 8, 4, 8, 16, 16, 0};
  return sizes[static_cast<std::size_t>(type)];
}

std::string_view name_of_value(ControlStructure structure, u16 offset, u64 value) {
  for (const auto& row : values)
    if (row.structure == structure && row.offset == offset && row.value == value) return row.name;
  return {};
}

}  // namespace coldtrace::tracefile
