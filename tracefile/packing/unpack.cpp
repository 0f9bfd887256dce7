#include "coldtrace/tracefile/packing/unpack.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/temporary_file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"
#include "coldtrace/tracefile/packing/unpack_one.hpp"
#include "tracefile/packing/packed_reader.hpp"

namespace coldtrace::tracefile {
namespace {

using core::FileKind;

constexpr unsigned most_nested = 4;
constexpr u64 most_members = 65'536;
constexpr u64 most_files = 1'024;
constexpr std::size_t shown_names = 8;
constexpr std::size_t window = 1 << 18;  // what a member's kind is told by

constexpr u64 most_unpacked = u64{64} << 30;
constexpr u64 least_unpacked = u64{256} << 20;
constexpr u64 unpacked_per_byte = 1'032;  // deflate's best

bool is_archive(FileKind kind) {
  return kind == FileKind::zip || kind == FileKind::seven_zip || kind == FileKind::cabinet ||
         kind == FileKind::tar;
}

bool ends_like_a_trace(std::string_view name) {
  const auto end = core::to_lower(name.substr(name.size() - std::min<std::size_t>(name.size(), 7)));
  return end.ends_with(".etl") || end.ends_with(".ctrace");
}

std::string join(const std::string& outer, const std::string& inner) {
  if (outer.empty() || inner.empty()) return outer.empty() ? inner : outer;
  return outer + "!" + inner;
}

void note(std::vector<std::string>& names, const std::string& name) {
  if (names.size() < shown_names) names.push_back(name);
}

class Unpacker {
 public:
  Unpacker(std::shared_ptr<core::TemporaryFile> file, u64 limit, core::Findings& findings,
           const WantedMember& wanted)
      : file_{std::move(file)},
        limit_{limit},
        findings_{findings},
        wanted_{wanted},
        head_(window) {}

  core::Result<core::Done> unpack(const core::ImageSource& source, FileKind kind,
                                  const std::string& name, unsigned depth) {
    const auto reader = kind == FileKind::gzip ? read_gzip(source) : read_archive(source, kind);
    if (!reader) {
      unpacked_.needs_library = true;
      return core::Done{};
    }
    PackedMember member;
    auto state = reader->next(member);
    for (; state == PackedReader::State::member && !full_; state = reader->next(member)) {
      if (++members_ > most_members || unpacked_.files.size() >= most_files) {
        findings_.warning("packed-limit", std::nullopt,
                          "more than {} members, or {} that are wanted; the rest is not read",
                          most_members, most_files);
        full_ = true;
        break;
      }
      if (!member.is_file) continue;
      COLDTRACE_TRY(read(*reader, member, join(name, member.name), is_archive(kind), depth));
    }
    if (state == PackedReader::State::damaged) report_damage(name, reader->damage());
    if (state == PackedReader::State::encrypted) report_encrypted(name);
    return core::Done{};
  }

  Unpacked take() { return std::move(unpacked_); }

 private:
  core::Result<core::Done> read(PackedReader& reader, const PackedMember& member,
                                const std::string& name, bool in_archive, unsigned depth) {
    if (member.encrypted) {
      report_encrypted(name);
      return core::Done{};
    }
    const auto head = std::span{head_}.first(reader.read(head_));
    const auto kind = kind_of(head);
    const bool nested = is_unpackable(kind) && depth < most_nested;
    if (in_archive && !nested && !wanted_(head, kind, member.name)) {
      ++unpacked_.others;
      note(unpacked_.other_names, name);
      if (!reader.damage().empty()) report_damage(name, reader.damage());
      return core::Done{};
    }
    auto part = COLDTRACE_TRY(write(reader, head, name));
    if (!reader.damage().empty()) report_damage(name, reader.damage());
    if (nested) return unpack(*part, kind, name, depth + 1);
    unpacked_.files.push_back({name, std::move(part)});
    return core::Done{};
  }

  static FileKind kind_of(core::ByteView head) { return core::recognize_bytes(head); }

  core::Result<std::unique_ptr<core::TemporaryPart>> write(PackedReader& reader,
                                                           core::ByteView head,
                                                           const std::string& name) {
    const u64 start = file_->size();
    std::vector<std::byte> more(window);
    for (auto bytes = head; !bytes.empty();) {
      const auto left = limit_ - file_->size();
      COLDTRACE_TRY(file_->append(bytes.first(std::min<u64>(bytes.size(), left))));
      if (bytes.size() > left) {
        findings_.warning("packed-limit", std::nullopt,
                          "{}unpacks to more than {} bytes; the rest is not read "
                          "(--unpacked-limit raises the limit)",
                          name.empty() ? "" : fmt::format("'{}' ", name), limit_);
        full_ = true;
        break;
      }
      bytes = std::span{more}.first(reader.read(more));
    }
    return std::make_unique<core::TemporaryPart>(file_, start, file_->size() - start);
  }

  // A member, or an archive that does not even tell its members' names.
  void report_encrypted(const std::string& name) {
    ++unpacked_.encrypted;
    if (!name.empty()) note(unpacked_.encrypted_names, name);
    findings_.warning("packed-encrypted", std::nullopt,
                      "{} is encrypted and not read: unpack it with its password first",
                      name.empty() ? "what it holds" : fmt::format("'{}'", name));
  }

  void report_damage(const std::string& name, const std::string& damage) {
    if (unpacked_.damage.empty()) unpacked_.damage = damage;
    findings_.warning("packed-damaged", std::nullopt,
                      "{}the compressed data is damaged or cut off after {}: {}",
                      name.empty() ? "" : fmt::format("'{}': ", name),
                      core::counted(file_->size(), "plain byte", "plain bytes"), damage);
  }

  std::shared_ptr<core::TemporaryFile> file_;
  u64 limit_;
  core::Findings& findings_;
  const WantedMember& wanted_;
  std::vector<std::byte> head_;
  Unpacked unpacked_;
  u64 members_ = 0;
  bool full_ = false;
};

// Another source, whose first error is kept. For one thread.
class WatchedSource final : public core::ImageSource {
 public:
  explicit WatchedSource(core::Borrowed<core::ImageSource> source) : source_{source.get()} {}
  u64 size() const override { return source_.size(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    auto done = source_.read_at(offset, destination);
    if (!done && !error_) error_ = done.error();
    return done;
  }
  const std::optional<core::ParseError>& error() const { return error_; }

 private:
  const core::ImageSource& source_;
  mutable std::optional<core::ParseError> error_;
};

bool holds_member(const core::ImageSource& source, FileKind kind, const WantedMember& wanted,
                  unsigned depth) {
  const auto reader = kind == FileKind::gzip ? read_gzip(source) : read_archive(source, kind);
  if (!reader) return false;
  std::vector<std::byte> bytes(window);
  PackedMember member;
  for (u64 members = 0; members < most_members; ++members) {
    if (reader->next(member) != PackedReader::State::member) return false;
    if (!member.is_file || member.encrypted) continue;
    const auto head = std::span{bytes}.first(reader->read(bytes));
    const core::MemoryImage image{head};
    const auto inner = core::recognize_bytes(head);
    const bool nested = is_unpackable(inner) && depth < most_nested;
    if (nested ? holds_member(image, inner, wanted, depth + 1) : wanted(head, inner, member.name))
      return true;
  }
  return false;
}

}  // namespace

bool is_unpackable(FileKind kind) {
  return kind == FileKind::gzip || kind == FileKind::xz || kind == FileKind::bzip2 ||
         kind == FileKind::zstandard || kind == FileKind::lz4 || is_archive(kind);
}

u64 default_unpacked_limit(u64 size) {
  const auto per_byte = std::min(size, most_unpacked / unpacked_per_byte) * unpacked_per_byte;
  return std::min(most_unpacked, least_unpacked + per_byte);
}

bool is_trace_member(core::ByteView head, FileKind kind, std::string_view name) {
  return kind == FileKind::event_trace || kind == FileKind::ctrace ||
         find_damaged_ctrace_magic(core::MemoryImage{head}) ||
         (ends_like_a_trace(name) && (kind == FileKind::unknown || kind == FileKind::zeros));
}

bool holds_member(const core::ImageSource& source, FileKind kind, const WantedMember& wanted) {
  return holds_member(source, kind, wanted, 1);
}

std::string list_names(const std::vector<std::string>& names, u64 count) {
  const auto text = fmt::format("{}", fmt::join(names, ", "));
  const auto left = count - names.size();
  return left == 0 ? text : fmt::format("{} and {} {}", text, left, left == 1 ? "other" : "others");
}

std::string describe_none(const Unpacked& unpacked, FileKind kind, std::string_view wanted) {
  const auto what = fmt::format("it is {}", to_string(kind));
  if (unpacked.needs_library)
    return fmt::format(
        "{}, and libarchive, which unpacks its contents, is not installed: unpack it first", what);
  if (unpacked.encrypted > 0)
    return fmt::format("{}, and encrypted{}; unpack it with its password first", what,
                       unpacked.encrypted_names.empty()
                           ? ""
                           : ": " + list_names(unpacked.encrypted_names, unpacked.encrypted));
  auto text = unpacked.others == 0 ? what
                                   : fmt::format("{} without {}; it holds {}", what, wanted,
                                                 list_names(unpacked.other_names, unpacked.others));
  if (!unpacked.damage.empty()) return fmt::format("{}; it is damaged: {}", text, unpacked.damage);
  return unpacked.others > 0 ? text : text + " that holds nothing";
}

std::string describe_several(const Unpacked& unpacked, FileKind kind, std::string_view wanted) {
  std::vector<std::string> names;
  for (const auto& file : unpacked.files)
    if (names.size() < shown_names) names.push_back(file.name);
  return fmt::format("it is {} with several {}: {}; unpack it first", to_string(kind), wanted,
                     list_names(names, unpacked.files.size()));
}

void note_others(const Unpacked& unpacked, core::Findings& findings) {
  if (unpacked.others == 0) return;
  findings.info("packed-others", std::nullopt, "{} {} not read: {}", unpacked.others,
                unpacked.others == 1 ? "member is" : "members are",
                list_names(unpacked.other_names, unpacked.others));
}

core::Result<Unpacked> unpack(const core::ImageSource& source, FileKind kind, u64 limit,
                              core::Findings& findings, const WantedMember& wanted) {
  Unpacker unpacker{COLDTRACE_TRY(core::TemporaryFile::create()), limit, findings, wanted};
  COLDTRACE_TRY(unpacker.unpack(source, kind, "", 1));
  return unpacker.take();
}

core::Expected<std::unique_ptr<core::ImageSource>, std::string> unpack_one(
    const core::ImageSource& packed, FileKind kind, u64 most, std::string_view beyond) {
  core::Findings findings;
  auto unpacked = unpack(packed, kind, most, findings,
                         [](core::ByteView, FileKind, std::string_view) { return true; });
  if (!unpacked) return core::fail(to_string(unpacked.error()));
  if (unpacked->needs_library)
    return core::fail(
        fmt::format("it is {}; libarchive, which unpacks it, is not installed", to_string(kind)));
  if (findings.count("packed-limit") > 0)
    return core::fail(fmt::format("it unpacks to more than {} bytes, {}", most, beyond));
  if (unpacked->encrypted > 0 && unpacked->files.empty())
    return core::fail(describe_none(*unpacked, kind, {}));
  if (!unpacked->damage.empty())
    return core::fail(
        fmt::format("it is {}, damaged or cut off: {}", to_string(kind), unpacked->damage));
  auto& files = unpacked->files;
  if (files.size() > 1) return core::fail(describe_several(*unpacked, kind, "files"));
  if (files.empty() || files.front().bytes->size() == 0)
    return core::fail(fmt::format("it is {} with nothing in it", to_string(kind)));
  return std::move(files.front().bytes);
}

core::Result<bool> holds_pdb(const core::ImageSource& packed, FileKind kind) {
  if (!is_unpackable(kind)) return false;
  const WatchedSource watched{packed};
  const bool found = holds_member(
      watched, kind,
      [](core::ByteView, FileKind member, std::string_view) { return member == FileKind::pdb; });
  if (!found && watched.error()) return core::fail(*watched.error());
  return found;
}

core::Expected<std::vector<std::byte>, std::string> unpack_pdb(const core::ImageSource& packed,
                                                               FileKind kind) {
  const auto justified = default_unpacked_limit(packed.size());
  const auto unpacked =
      justified < largest_packed_pdb
          ? unpack_one(
                packed, kind, justified,
                fmt::format("more than is read of {} compressed; unpack it first", packed.size()))
          : unpack_one(packed, kind, largest_packed_pdb,
                       "more than is read of a compressed PDB; unpack it first");
  if (!unpacked) return core::fail(unpacked.error());
  std::vector<std::byte> all((*unpacked)->size());
  if (const auto done = (*unpacked)->read_at(0, all); !done)
    return core::fail(to_string(done.error()));
  return all;
}

}  // namespace coldtrace::tracefile
