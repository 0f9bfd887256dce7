#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

struct VmdkDefect {
  u64 offset;  // of the field or entry that is wrong
  std::string text;
};

// What is impossible in the header or the grain directory of a sparse VMDK: libvmdk does not say
// why it refuses one, or where. Nothing for other kinds of VMDK.
std::optional<VmdkDefect> find_vmdk_defect(const core::ImageSource& file);

// Whether a file that begins as a sparse VMDK has a possible header, and a table that leads to
// grains in it.
bool is_sound_vmdk(const core::ImageSource& file);

}  // namespace coldtrace::ntfs
