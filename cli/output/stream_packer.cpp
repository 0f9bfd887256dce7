#include "cli/output/stream_packer.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "cli/output/libzstd.hpp"
#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t piece_size = std::size_t{1} << 17;
constexpr int gzip_format = 16 + MAX_WBITS;

// The pointers of zlib are to unsigned char, and those of input are never written through.
Bytef* zlib_pointer(const void* bytes) {
  return static_cast<Bytef*>(const_cast<void*>(bytes));
}

// RFC 1952: without a name and with the time 0, so that the same input gives the same bytes.
class GzipPacker final : public StreamPacker {
 public:
  explicit GzipPacker(const std::string& path) : path_{path}, packed_(piece_size) {
    constexpr int most_memory = 9;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_format, most_memory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw PackingError{path_ + ": no memory to compress with gzip"};
  }
  GzipPacker(const GzipPacker&) = delete;
  GzipPacker& operator=(const GzipPacker&) = delete;
  ~GzipPacker() override { deflateEnd(&stream_); }

  void pack(std::string_view text, bool last, const Sink& sink) override {
    // One part after the other: zlib counts with 32 bits.
    constexpr std::size_t most = std::size_t{1} << 30;
    do {
      const auto part = text.substr(0, most);
      text.remove_prefix(part.size());
      stream_.next_in = zlib_pointer(part.data());
      stream_.avail_in = static_cast<uInt>(part.size());
      run(last && text.empty() ? Z_FINISH : Z_NO_FLUSH, sink);
    } while (!text.empty());
  }

 private:
  void run(int flush, const Sink& sink) {
    do {
      stream_.next_out = zlib_pointer(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      deflate(&stream_, flush);  // without a room for errors: the stream is as it was made
      sink({packed_.data(), packed_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  std::string path_;
  std::vector<char> packed_;
  z_stream stream_{};
};

// RFC 8878, with a checksum. Jobs of one size, so that the bytes do not depend on the threads.
class ZstdPacker final : public StreamPacker {
 public:
  ZstdPacker(const Libzstd& library, const std::string& path, unsigned threads)
      : library_{library}, path_{path}, packed_(piece_size), context_{library.create_packer()} {
    constexpr int level = 3;              // zstd's own default
    constexpr unsigned most_threads = 8;  // each has room for a job or two
    constexpr int job_size = 4 << 20;
    if (context_ == nullptr) fail("no memory");
    set(Libzstd::level, level);
    set(Libzstd::checksum, 1);
    // A library without threads refuses these two, and packs all the same.
    library_.set(context_, Libzstd::threads,
                 static_cast<int>(std::clamp(threads, 1U, most_threads)));
    library_.set(context_, Libzstd::job_size, job_size);
  }
  ZstdPacker(const ZstdPacker&) = delete;
  ZstdPacker& operator=(const ZstdPacker&) = delete;
  ~ZstdPacker() override { library_.free_packer(context_); }

  void pack(std::string_view text, bool last, const Sink& sink) override {
    Libzstd::Input input{text.data(), text.size(), 0};
    const auto how = last ? Libzstd::end : Libzstd::go_on;
    for (;;) {
      Libzstd::Output output{packed_.data(), packed_.size(), 0};
      const auto left = library_.pack(context_, &output, &input, how);
      if (library_.is_error(left) != 0) fail(library_.error_name(left));
      if (output.position > 0) sink({packed_.data(), output.position});
      if (last ? left == 0 : input.position == input.size) return;
    }
  }

 private:
  void set(int parameter, int value) {
    const auto done = library_.set(context_, parameter, value);
    if (library_.is_error(done) == 0) return;
    library_.free_packer(context_);
    fail(library_.error_name(done));
  }
  [[noreturn]] void fail(std::string_view why) const {
    throw PackingError{fmt::format("{}: cannot compress with zstd: {}", path_, why)};
  }

  const Libzstd& library_;
  std::string path_;
  std::vector<char> packed_;
  Libzstd::Packer* context_;
};

std::string unpack_gzip(core::ByteView packed, std::size_t most) {
  std::vector<char> start(most);
  z_stream stream{};
  if (inflateInit2(&stream, gzip_format) != Z_OK) return {};
  stream.next_in = zlib_pointer(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = zlib_pointer(start.data());
  stream.avail_out = static_cast<uInt>(start.size());
  inflate(&stream, Z_SYNC_FLUSH);
  inflateEnd(&stream);
  return {start.data(), most - stream.avail_out};
}

std::string unpack_zstd(core::ByteView packed, std::size_t most) {
  const auto* const library = libzstd();
  auto* const context = library != nullptr ? library->create_unpacker() : nullptr;
  if (context == nullptr) return {};
  std::vector<char> start(most);
  Libzstd::Input input{packed.data(), packed.size(), 0};
  Libzstd::Output output{start.data(), start.size(), 0};
  while (input.position < input.size && output.position < output.size) {
    const auto before = input.position + output.position;
    const auto left = library->unpack(context, &output, &input);
    if (library->is_error(left) != 0 || left == 0 || input.position + output.position == before)
      break;
  }
  library->free_unpacker(context);
  return {start.data(), output.position};
}

}  // namespace

bool has_ending(std::string_view path, std::string_view ending) {
  return path.size() > ending.size() &&
         core::equal_ignoring_case(path.substr(path.size() - ending.size()), ending);
}

Packing packing_of(std::string_view path) {
  if (has_ending(path, ".gz")) return Packing::gzip;
  return has_ending(path, ".zst") ? Packing::zstandard : Packing::none;
}

std::string_view other_packing_of(std::string_view path) {
  for (const std::string_view ending : {".xz", ".bz2", ".lz4", ".zip", ".7z", ".cab"})
    if (has_ending(path, ending)) return ending;
  return {};
}

std::unique_ptr<StreamPacker> make_packer(Packing packing, const std::string& path,
                                          unsigned threads) {
  if (const auto ending = other_packing_of(path); !ending.empty())
    throw PackingError{fmt::format("{}: {} compression is not supported; name the file .zst or .gz",
                                   path, ending)};
  if (packing == Packing::none) return nullptr;
  if (packing == Packing::gzip) return std::make_unique<GzipPacker>(path);
  const auto* const library = libzstd();
  if (library == nullptr)
    throw PackingError{path + ": its name asks for zstd, which needs libzstd (Debian: libzstd1)"};
  return std::make_unique<ZstdPacker>(*library, path, threads);
}

std::string unpack_start(core::ByteView packed, Packing packing, std::size_t most) {
  if (packing == Packing::none) return {};
  return packing == Packing::gzip ? unpack_gzip(packed, most) : unpack_zstd(packed, most);
}

}  // namespace coldtrace::cli
