#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <vector>

#include <fmt/format.h>

#include "coldtrace/core/skippable_frames.hpp"
#include "tracefile/packing/libarchive.hpp"
#include "tracefile/packing/packed_reader.hpp"

namespace coldtrace::tracefile {
namespace {

using core::FileKind;

constexpr std::size_t window = 1 << 18;

// libarchive converts names to what the locale of the thread has for characters.
class Utf8Names {
 public:
  Utf8Names() : utf8_{::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)} {
    if (utf8_ != nullptr) before_ = ::uselocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;
  ~Utf8Names() {
    if (utf8_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(utf8_);
  }

 private:
  locale_t utf8_;
  locale_t before_ = nullptr;
};

// What libarchive reads of: a position in a source.
struct Input {
  const core::ImageSource& source;
  std::vector<std::byte> window;
  u64 at = 0;
  std::optional<core::ParseError> error;
};

la_ssize_t read_input(archive*, void* data, const void** bytes) {
  auto& input = *static_cast<Input*>(data);
  auto part = std::span{input.window}.first(
      std::min<u64>(input.window.size(), input.source.size() - input.at));
  if (const auto done = input.source.read_at(input.at, part); !done) {
    part = part.first(core::read_before_error(input.source, input.at, part));
    if (part.empty()) {
      input.error = done.error();
      return ARCHIVE_FATAL;
    }
  }
  input.at += part.size();
  *bytes = part.data();
  return static_cast<la_ssize_t>(part.size());
}

la_int64_t skip_input(archive*, void* data, la_int64_t count) {
  auto& input = *static_cast<Input*>(data);
  if (count <= 0) return 0;
  const auto skipped = std::min(static_cast<u64>(count), input.source.size() - input.at);
  input.at += skipped;
  return static_cast<la_int64_t>(skipped);
}

la_int64_t seek_input(archive*, void* data, la_int64_t offset, int whence) {
  auto& input = *static_cast<Input*>(data);
  const auto size = static_cast<la_int64_t>(input.source.size());
  la_int64_t base = 0;
  if (whence == SEEK_CUR) base = static_cast<la_int64_t>(input.at);
  if (whence == SEEK_END) base = size;
  la_int64_t to = 0;
  if (__builtin_add_overflow(base, offset, &to) || to < 0 || to > size) return ARCHIVE_FATAL;
  input.at = static_cast<u64>(to);
  return to;
}

// libarchive 3.6 takes no frames to be skipped.
u64 skip_first_frames(const core::ImageSource& source) {
  return core::behind_skippable_frames(source.size(), [&](u64 offset, u64 length) {
    std::vector<std::byte> bytes(length);
    if (!source.read_at(offset, bytes)) bytes.clear();
    return bytes;
  });
}

// Only what the signature says: each format more could take the bytes for its own.
void support(const Libarchive& library, archive* reader, FileKind kind) {
  switch (kind) {
    case FileKind::zip:
      library.format_zip(reader);
      return;
    case FileKind::seven_zip:
      library.format_7zip(reader);
      return;
    case FileKind::cabinet:
      library.format_cab(reader);
      return;
    case FileKind::tar:
      library.format_tar(reader);
      return;
    case FileKind::xz:
      library.filter_xz(reader);
      break;
    case FileKind::bzip2:
      library.filter_bzip2(reader);
      break;
    case FileKind::zstandard:
      library.filter_zstd(reader);
      break;
    default:
      library.filter_lz4(reader);
  }
  library.format_raw(reader);
}

class ArchiveReader final : public PackedReader {
 public:
  ArchiveReader(const Libarchive& library, const core::ImageSource& source, FileKind kind)
      : library_{library},
        input_{source, std::vector<std::byte>(window), 0, {}},
        reader_{library.read_new()} {
    if (reader_ == nullptr) return;
    if (kind == FileKind::zstandard || kind == FileKind::lz4) input_.at = skip_first_frames(source);
    support(library, reader_, kind);
    library.set_read_callback(reader_, read_input);
    library.set_skip_callback(reader_, skip_input);
    library.set_seek_callback(reader_, seek_input);
    library.set_callback_data(reader_, &input_);
    has_names_ = kind == FileKind::zip || kind == FileKind::seven_zip ||
                 kind == FileKind::cabinet || kind == FileKind::tar;
  }
  ~ArchiveReader() override {
    if (reader_ != nullptr) library_.read_free(reader_);
  }

  State next(PackedMember& member) override {
    const Utf8Names names;
    if (reader_ == nullptr) {
      damage_ = "no memory to unpack it";
      return State::damaged;
    }
    if (!std::exchange(tried_, true)) is_open_ = library_.open(reader_) >= ARCHIVE_WARN;
    if (!is_open_) return fail();
    archive_entry* entry = nullptr;
    const int status = library_.next_header(reader_, &entry);
    if (status == ARCHIVE_EOF) return State::end;
    if (status < ARCHIVE_WARN)
      return !has_members_ && library_.has_encrypted_entries(reader_) > 0 ? State::encrypted
                                                                          : fail();
    has_members_ = true;
    damage_.clear();
    block_ = {};
    hole_ = 0;
    position_ = 0;
    at_end_ = false;
    member.name.clear();
    if (has_names_) {
      const char* name = library_.pathname_utf8(entry);
      if (name == nullptr) name = library_.pathname(entry);
      if (name != nullptr) member.name = name;
    }
    member.encrypted = library_.is_encrypted(entry) != 0;
    // Of a cabinet and a single stream there is no type.
    const auto type = library_.filetype(entry);
    member.is_file = type == AE_IFREG || type == 0;
    return State::member;
  }

  // By blocks: what is read when an error is met is handed out with it.
  std::size_t read(std::span<std::byte> destination) override {
    std::size_t done = 0;
    while (done < destination.size() && (!block_.empty() || hole_ > 0 || read_block())) {
      auto rest = destination.subspan(done);
      if (hole_ > 0) {
        rest = rest.first(std::min<u64>(rest.size(), hole_));
        std::ranges::fill(rest, std::byte{0});
        hole_ -= rest.size();
      } else {
        rest = rest.first(std::min(rest.size(), block_.size()));
        std::ranges::copy(block_.first(rest.size()), rest.begin());
        block_ = block_.subspan(rest.size());
      }
      done += rest.size();
    }
    return done;
  }

 private:
  // The next bytes of the member and the hole before them, which sparse files have.
  bool read_block() {
    if (!damage_.empty() || at_end_) return false;
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int status = library_.read_data_block(reader_, &bytes, &size, &offset);
    at_end_ = status == ARCHIVE_EOF;
    if (at_end_) size = 0;
    if (status < ARCHIVE_OK) fail();
    block_ = {static_cast<const std::byte*>(bytes), size};
    if (offset > position_) hole_ = static_cast<u64>(offset - position_);
    position_ = std::max(position_, offset) + static_cast<la_int64_t>(size);
    return size > 0 || hole_ > 0;
  }

  State fail() {
    const char* const text = library_.error_string(reader_);
    damage_ = input_.error ? to_string(*input_.error) : text != nullptr ? text : "it is damaged";
    // Some of libarchive's messages end with a line break.
    damage_.erase(damage_.find_last_not_of(" \t\r\n") + 1);
    return State::damaged;
  }

  const Libarchive& library_;
  Input input_;
  archive* reader_;
  core::ByteView block_;  // of the member, not yet handed out
  u64 hole_ = 0;          // zeros before it
  la_int64_t position_ = 0;
  bool at_end_ = false;  // of the member
  bool tried_ = false;   // to open it
  // No format has taken the bytes of what cannot be opened: libarchive 3.6.2 keeps a pointer behind
  // its formats then, which the question for encrypted entries would follow.
  bool is_open_ = false;
  bool has_members_ = false;  // which were handed out
  bool has_names_ = false;
};

}  // namespace

std::unique_ptr<PackedReader> read_archive(const core::ImageSource& source, FileKind kind) {
  const auto* const library = libarchive();
  if (library == nullptr) return nullptr;
  return std::make_unique<ArchiveReader>(*library, source, kind);
}

}  // namespace coldtrace::tracefile
