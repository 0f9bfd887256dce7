#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

struct VmdkDefect {
  u64 offset;  // of the field or entry that is wrong
  std::string text;
};

// What the header of a sparse VMDK and its grain directory have that no disk has: libvmdk does not
// say why it refuses one, or where. Nothing of VMDKs of other kinds.
std::optional<VmdkDefect> find_vmdk_defect(const core::ImageSource& file);

// Whether a file that begins as a sparse VMDK has such a header, and a table that leads to grains
// in it.
bool is_sound_vmdk(const core::ImageSource& file);

}  // namespace coldtrace::ntfs
