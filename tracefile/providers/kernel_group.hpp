#pragma once

#include <optional>

#include "coldtrace/core/guid.hpp"

namespace coldtrace::tracefile {

// The class GUID of a kernel event that is logged with a group and an opcode only; zeros for a
// group without one. Image loads are logged in the process group with opcode 10.
// Source: Windows SDK ntwmi.h and the kernel's MOF classes.
core::Guid kernel_class(u8 group, u8 opcode);

// The group whose class GUID this is, or nothing.
std::optional<u8> find_kernel_group(const core::Guid& guid);

// "Process", "DiskIo"; empty for a group that is not known.
std::string_view kernel_class_name(u8 group);

}  // namespace coldtrace::tracefile
