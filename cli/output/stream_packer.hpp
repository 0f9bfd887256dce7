#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::cli {

// Why packing failed; `message` begins with the file's name.
struct PackingError {
  std::string message;
};

enum class Packing { none, gzip, zstandard };

// Whether the file's name has this ending, in any case, and more before it.
bool has_ending(std::string_view path, std::string_view ending);

// The packing for the end of a file's name, in any case: .gz or .zst.
Packing packing_of(std::string_view path);

// The end of a file's name if it stands for a packing that outputs do not have; else empty.
std::string_view other_packing_of(std::string_view path);

// Packs a stream of bytes; throws PackingError. Exceptions of `sink` pass through. The same bytes
// always give the same packed bytes, in whatever pieces they come and on however many threads.
class StreamPacker {
 public:
  using Sink = std::function<void(std::string_view)>;

  virtual ~StreamPacker() = default;
  // Passes to `sink` what is packed so far, perhaps nothing; with `last`, all the rest.
  virtual void pack(std::string_view text, bool last, const Sink& sink) = 0;
};

// Null for no packing. Throws PackingError if libzstd is missing, or if the end of the name stands
// for another packing.
// At most `threads` threads pack; the bytes do not depend on their number.
std::unique_ptr<StreamPacker> make_packer(Packing packing, const std::string& path,
                                          unsigned threads);

// Unpacks at most `most` bytes from `packed`, the first bytes of a packed file; fewer if it ends,
// is damaged, or a library is missing.
std::string unpack_start(core::ByteView packed, Packing packing, std::size_t most);

}  // namespace coldtrace::cli
