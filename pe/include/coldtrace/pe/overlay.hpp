#pragma once

#include <optional>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// What a file has behind the data of its last section: symbols, certificates, or anything that
// somebody appended.
struct Overlay {
  u64 offset;
  u64 size;
};

// Nothing: the file ends with its last section, or is a dump.
[[nodiscard]] std::optional<Overlay> find_overlay(const Image& image);

// Shannon's entropy in bits a byte: 0 for bytes of one value, 8 for those that cannot be told from
// random ones, as compressed and encrypted data.
[[nodiscard]] double compute_entropy(core::ByteView bytes);

}  // namespace coldtrace::pe
