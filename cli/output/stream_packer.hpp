#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::cli {

// Why nothing can be packed; `message` begins with the file's name.
struct PackingError {
  std::string message;
};

enum class Packing { none, gzip, zstandard };

// Whether the file's name ends so, in whatever case, and is more than that.
bool has_ending(std::string_view path, std::string_view ending);

// What the end of a file's name asks for, in whatever case: .gz or .zst.
Packing packing_of(std::string_view path);

// The end of the name of a file that is packed in a way that no output is; empty: another one.
std::string_view other_packing_of(std::string_view path);

// Packs a stream of bytes; throws PackingError. What `sink` throws passes; the same bytes give the
// same packed ones, in whatever pieces they come and on however many threads.
class StreamPacker {
 public:
  using Sink = std::function<void(std::string_view)>;

  virtual ~StreamPacker() = default;
  // Gives `sink` what is packed so far, perhaps nothing; all that is left with `last`.
  virtual void pack(std::string_view text, bool last, const Sink& sink) = 0;
};

// Null for none. Throws PackingError where libzstd is not there, and where the name ends as those
// of files do that are packed in another way.
// `threads` at most pack; the bytes do not depend on them.
std::unique_ptr<StreamPacker> make_packer(Packing packing, const std::string& path,
                                          unsigned threads);

// The first bytes of what `packed`, the first bytes of a packed file, holds, at most `most` of
// them; fewer where it ends, is damaged, or needs what is not there.
std::string unpack_start(core::ByteView packed, Packing packing, std::size_t most);

}  // namespace coldtrace::cli
