#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::tracefile {

// What a packed file of this kind holds, if that is one file of at most `most` bytes. Fails with a
// sentence in which `beyond` says why no more bytes are taken: "more than a hook table has".
core::Expected<std::unique_ptr<core::ImageSource>, std::string> unpack_one(
    const core::ImageSource& packed, core::FileKind kind, u64 most, std::string_view beyond);

// What a packed PDB may unpack to: it is held in memory as a whole.
inline constexpr u64 largest_packed_pdb = u64{1} << 30;

// Whether a file of the kind is a packed one in which a PDB begins.
[[nodiscard]] core::Result<bool> holds_pdb(const core::ImageSource& packed, core::FileKind kind);

// The PDB in it, of at most `largest_packed_pdb` bytes and default_unpacked_limit(). Fails as
// above.
core::Expected<std::vector<std::byte>, std::string> unpack_pdb(const core::ImageSource& packed,
                                                               core::FileKind kind);

}  // namespace coldtrace::tracefile
