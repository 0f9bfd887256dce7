#pragma once

#include <optional>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// What follows the data of a file's last section: symbols, certificates, or appended data.
struct Overlay {
  u64 offset;
  u64 size;
};

// Nothing: the file ends with its last section, or is a dump.
[[nodiscard]] std::optional<Overlay> find_overlay(const Image& image);

// What a file has of a section, also beyond what is loaded of it; of a dump, what was loaded.
[[nodiscard]] core::ByteView stored_bytes(const Image& image, const SectionHeader& section);

// Shannon entropy in bits per byte: 0 for bytes with one value, 8 for those indistinguishable from
// random ones, such as compressed and encrypted data.
[[nodiscard]] double compute_entropy(core::ByteView bytes);

}  // namespace coldtrace::pe
