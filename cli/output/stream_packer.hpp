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

// Whether the file's name ends this way (case-insensitive), and is longer than that.
bool has_ending(std::string_view path, std::string_view ending);

// What a file name's extension asks for (case-insensitive): .gz or .zst.
Packing packing_of(std::string_view path);

// The extension of a file name if it means a compression that no output has; otherwise empty.
std::string_view other_packing_of(std::string_view path);

// Packs a stream of bytes; throws PackingError, and lets what `sink` throws pass. The same bytes
// give the same packed bytes, in whatever pieces they come and on however many threads.
class StreamPacker {
 public:
  using Sink = std::function<void(std::string_view)>;

  virtual ~StreamPacker() = default;
  // Gives `sink` what is packed so far, perhaps nothing; with `last`, everything that is left.
  virtual void pack(std::string_view text, bool last, const Sink& sink) = 0;
};

// Null for no packing. Throws PackingError if libzstd is missing, or the name has the extension of
// another compression. At most `threads` threads pack; the bytes do not depend on their number.
std::unique_ptr<StreamPacker> make_packer(Packing packing, const std::string& path,
                                          unsigned threads);

// The first bytes of the content of a packed file, at most `most` of them; `packed` has its first
// bytes. Fewer if it ends, is damaged, or needs what is missing.
std::string unpack_start(core::ByteView packed, Packing packing, std::size_t most);

}  // namespace coldtrace::cli
