#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/disk/ewf_image.hpp"
#include "ntfs/disk/ewf_damage.hpp"
#include "ntfs/disk/patched_segment.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

// Damaged segments that are tried one by one, from the last on.
constexpr std::size_t most_in_turn = 8;

core::ParseError ewf_error(u64 offset, core::Name field) {
  return {Fault::io, offset, "EWF", field, 0, EIO};
}

// The segments from the first to the last before one that is missing.
std::vector<std::string> find_segments(const Libewf& ewf, const std::string& path) {
  char** names = nullptr;
  int count = 0;
  if (ewf.glob(path.c_str(), path.size(), LIBEWF_FORMAT_UNKNOWN, &names, &count, nullptr) != 1)
    return {};
  std::vector<std::string> segments{names, names + std::max(count, 0)};
  ewf.glob_free(names, count, nullptr);
  return segments;
}

// How many segments to try when libewf refuses so many, in order: some damage it bears only at the
// end of the last one, and some not at all.
std::vector<std::size_t> fewer_segments(const EwfSegments& segments, std::size_t count) {
  std::vector<std::size_t> fewer;
  for (const auto& damage : segments.damage)
    for (const auto candidate : {damage.segment, damage.segment + 1})
      if (candidate > 0 && candidate < count) fewer.push_back(candidate);
  std::ranges::sort(fewer);
  fewer.erase(std::unique(fewer.begin(), fewer.end()), fewer.end());
  return fewer;
}

struct SectorRange {
  u64 first;
  u64 count;
};

class EwfImage final : public EwfSource {
 public:
  explicit EwfImage(const Libewf& ewf) : ewf_{ewf} {}
  ~EwfImage() override {
    if (handle_ != nullptr) {
      ewf_.handle_close(handle_, nullptr);
      ewf_.handle_free(&handle_, nullptr);
    }
    if (pool_ != nullptr) ewf_.bfio.pool_free(&pool_, nullptr);
  }

  bool open(std::span<std::string> segments, const std::vector<std::vector<EwfPatch>>& patches) {
    const bool patched =
        std::ranges::any_of(std::span{patches}.first(segments.size()),
                            [](const auto& of_segment) { return !of_segment.empty(); });
    const bool many =
        segments.size() > PatchedSegment::most_open && ewf_.bfio.handle_initialize != nullptr;
    return ewf_.handle_initialize(&handle_, nullptr) == 1 &&
           (patched || many ? open_patched(segments, patches) : open_files(segments)) &&
           ewf_.handle_get_media_size(handle_, &size_, nullptr) == 1 &&
           ewf_.handle_get_chunk_size(handle_, &chunk_size_, nullptr) == 1 &&
           ewf_.handle_get_bytes_per_sector(handle_, &sector_size_, nullptr) == 1 && size_ > 0 &&
           chunk_size_ > 0 && sector_size_ > 0 &&
           // A chunk that fails its checksum reads as zeros, by which read_at knows it.
           ewf_.handle_set_read_zero_chunk_on_error(handle_, 1, nullptr) == 1 &&
           read_acquiry_errors();
  }

  u64 size() const override { return size_; }
  u64 available() const override { return available_; }
  std::span<const core::ByteRange> unreliable() const override { return acquiry_errors_; }

  // Nothing is read behind the chunks that are where they belong; says why.
  void set_available(EwfSegments segments, u64 chunks, core::Findings& findings) {
    const u64 end = std::min(core::saturating_multiply(chunks, chunk_size_), size_);
    available_ = end;
    if (segments.damage.empty() && end < size_)
      segments.damage.push_back({fmt::format("the tables have {} chunks", chunks), true, 0});
    const bool explained = std::ranges::any_of(segments.damage, &EwfSegments::Damage::loses);
    EwfDamageText lossy;
    EwfDamageText harmless;
    for (const auto& damage : segments.damage)
      (end == size_ || (explained && !damage.loses) ? harmless : lossy).add(damage);
    std::vector<std::string> sentences;
    if (!lossy.empty())
      sentences.push_back(fmt::format(
          "{}: sectors{} of the disk are lost, its bytes {:#x}-{:#x}", lossy.text(),
          to_text({end / sector_size_, (size_ - end + sector_size_ - 1) / sector_size_}), end,
          size_ - 1));
    if (!harmless.empty())
      sentences.push_back(
          fmt::format("{}; no sectors are lost by that, and chunks are checked as they are read",
                      harmless.text()));
    tell_damage(segments, std::move(sentences), lossy.empty() ? std::nullopt : std::optional{end},
                findings);
  }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    if (offset + destination.size() > available_)
      return core::fail(ewf_error(std::max(offset, available_), "segment"));
    // A handle has one position and one cache of chunks.
    const std::scoped_lock lock{mutex_};
    const u64 start = offset;
    auto rest = destination;
    while (!rest.empty()) {
      const auto count = ewf_.handle_read_random(handle_, rest.data(), rest.size(),
                                                 static_cast<off64_t>(offset), nullptr);
      if (count <= 0) return core::fail(ewf_error(offset, "chunk"));
      offset += static_cast<u64>(count);
      rest = rest.subspan(static_cast<std::size_t>(count));
    }
    if (const auto bad = find_bad_chunk(start, destination))
      return core::fail(ewf_error(*bad, "chunk"));
    return core::Done{};
  }

  void add_findings(core::Findings& findings) const override {
    const std::scoped_lock lock{mutex_};
    const auto bad = error_count();
    std::string ranges;
    for (u32 i = 0; i < std::min(bad, most_shown); ++i) ranges += to_text(bad_range(i));
    if (bad > most_shown) ranges += " and others";
    const u64 first = bad_range(0).first * sector_size_;
    for (u32 i = 0; i < bad; ++i)
      findings.warning("ewf-chunk", first,
                       "chunks of the E01 image are damaged or missing and were not used: sectors"
                       "{}",
                       ranges);
    add_acquiry_errors(findings);
  }

  // Those of the sections "hash" and "digest", and of "xhash", which has texts and alone a SHA-256.
  std::vector<StoredHash> hashes(core::Findings& findings) const override {
    std::vector<StoredHash> stored;
    for (const auto& [algorithm, name, digits] :
         {std::tuple{"md5", "MD5", 32U}, {"sha1", "SHA1", 40U}, {"sha256", "SHA256", 64U}}) {
      const auto value = stored_text(name);
      if (!value) continue;
      if (value->size() == digits && value->find_first_not_of("0123456789abcdef") == value->npos)
        stored.push_back({algorithm, *value});
      else
        findings.warning("image-hash", std::nullopt,
                         "the {} that the image states is not valid: '{}'", name, *value);
    }
    return stored;
  }

 private:
  static constexpr u32 most_shown = 16;   // ranges of sectors
  static constexpr u32 most_kept = 4096;  // libewf goes through its list for each

  bool open_files(std::span<std::string> segments) {
    std::vector<char*> names;
    for (auto& segment : segments) names.push_back(segment.data());
    return ewf_.handle_open(handle_, names.data(), static_cast<int>(names.size()), LIBEWF_OPEN_READ,
                            nullptr) == 1;
  }

  bool open_patched(std::span<std::string> segments,
                    const std::vector<std::vector<EwfPatch>>& patches) {
    const auto& bfio = ewf_.bfio;
    if (bfio.handle_initialize == nullptr || bfio.pool_initialize(&pool_, 0, 0, nullptr) != 1)
      return false;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      files_.push_back(PatchedSegment::make(segments[i], patches[i], open_));
      if (!files_.back()) return false;
      auto* handle = files_.back()->make_handle(bfio);
      int entry = 0;
      if (handle == nullptr) return false;
      if (bfio.pool_append_handle(pool_, &entry, handle, LIBEWF_OPEN_READ, nullptr) != 1) {
        bfio.handle_free(&handle, nullptr);
        return false;
      }
    }
    return bfio.handle_open_file_io_pool(handle_, pool_, LIBEWF_OPEN_READ, nullptr) == 1;
  }

  // Where in the bytes just read a damaged chunk starts. Once a chunk has failed, chunks of zeros
  // are looked up, to tell damaged ones from those that are empty.
  std::optional<u64> find_bad_chunk(u64 offset, core::ByteView bytes) const {
    if (error_count() == 0) return std::nullopt;
    while (!bytes.empty()) {
      const u64 in_chunk = std::min<u64>(chunk_size_ - offset % chunk_size_, bytes.size());
      const auto part = bytes.first(in_chunk);
      if (core::is_zero(part) && is_bad(offset / sector_size_)) return offset;
      offset += in_chunk;
      bytes = bytes.subspan(in_chunk);
    }
    return std::nullopt;
  }

  // In lower case, and empty where it is longer than any hash.
  std::optional<std::string> stored_text(std::string_view name) const {
    const std::scoped_lock lock{mutex_};
    std::vector<u8> identifier{name.begin(), name.end()};
    identifier.push_back(0);  // libewf 20140813 compares it too
    std::array<u8, 128> value{};
    const int found = ewf_.handle_get_utf8_hash_value(handle_, identifier.data(), name.size(),
                                                      value.data(), value.size(), nullptr);
    if (found == 0) return std::nullopt;
    if (found < 0) return std::string{};
    return core::to_lower(std::string{value.begin(), std::ranges::find(value, u8{0})});
  }

  u32 error_count() const {
    u32 count = 0;
    return ewf_.handle_get_number_of_checksum_errors(handle_, &count, nullptr) == 1 ? count : 0;
  }

  SectorRange bad_range(u32 index) const {
    SectorRange range{};
    if (ewf_.handle_get_checksum_error(handle_, index, &range.first, &range.count, nullptr) != 1)
      return {};
    return range;
  }

  // libewf keeps its ranges sorted and joined.
  bool is_bad(u64 sector) const {
    u32 first = 0;
    u32 end = error_count();
    while (first < end) {
      const u32 middle = first + (end - first) / 2;
      const auto range = bad_range(middle);
      if (sector < range.first) {
        end = middle;
      } else if (sector - range.first < range.count) {
        return true;
      } else {
        first = middle + 1;
      }
    }
    return false;
  }

  static std::string to_text(SectorRange range) {
    return fmt::format(" {}-{}", range.first, range.first + range.count - 1);
  }

  // What could not be read from the disk when the image was made.
  bool read_acquiry_errors() {
    if (ewf_.handle_get_number_of_acquiry_errors(handle_, &acquiry_error_count_, nullptr) != 1)
      return false;
    for (u32 i = 0; i < std::min(acquiry_error_count_, most_kept); ++i) {
      SectorRange range{};
      if (ewf_.handle_get_acquiry_error(handle_, i, &range.first, &range.count, nullptr) != 1)
        return false;
      acquiry_errors_.push_back({core::saturating_multiply(range.first, sector_size_),
                                 core::saturating_multiply(range.count, sector_size_)});
    }
    return true;
  }

  void add_acquiry_errors(core::Findings& findings) const {
    std::string ranges;
    for (u32 i = 0; i < std::min(acquiry_error_count_, most_shown); ++i)
      ranges += to_text(
          {acquiry_errors_[i].offset / sector_size_, acquiry_errors_[i].length / sector_size_});
    if (acquiry_error_count_ > most_shown) ranges += " and others";
    for (u32 i = 0; i < acquiry_error_count_; ++i)
      findings.warning("ewf-acquiry-error", acquiry_errors_.front().offset,
                       "the disk could not be read when the E01 image was made: sectors{}", ranges);
  }

  const Libewf& ewf_;
  libewf_handle_t* handle_ = nullptr;
  Libbfio::Pool* pool_ = nullptr;
  PatchedSegment::OpenFiles open_;
  std::vector<std::unique_ptr<PatchedSegment>> files_;  // behind the pool
  size64_t size_ = 0;
  u64 available_ = 0;
  std::vector<core::ByteRange> acquiry_errors_;  // the first of so many:
  u32 acquiry_error_count_ = 0;
  size32_t chunk_size_ = 0;
  u32 sector_size_ = 0;
  mutable std::mutex mutex_;
};

// Libewf does not open an image with damaged case notes, which nothing here needs.
std::unique_ptr<EwfImage> open_segments(const Libewf& ewf, std::span<std::string> segments,
                                        EwfSegments& state) {
  auto image = std::make_unique<EwfImage>(ewf);
  if (image->open(segments, state.patches)) return image;
  if (state.without_notes.empty()) return nullptr;
  auto patches = state.patches;
  patches[0].insert(patches[0].end(), state.without_notes.begin(), state.without_notes.end());
  image = std::make_unique<EwfImage>(ewf);
  if (!image->open(segments, patches)) return nullptr;
  state.patches = std::move(patches);
  state.without_notes.clear();
  state.damage.push_back({fmt::format("segment 1, {}, has damaged case notes",
                                      segments[0].substr(segments[0].rfind('/') + 1)),
                          false, 0});
  return image;
}

}  // namespace

core::Result<std::unique_ptr<EwfSource>> open_ewf(const std::string& path,
                                                  core::Findings& findings) {
  const auto* ewf = libewf();
  if (ewf == nullptr) return core::fail({Fault::unsupported, 0, "E01 image", "libewf", 1, 0});
  auto segments = find_segments(*ewf, path);
  if (segments.empty()) segments.push_back(path);  // without the first, none is found
  auto state = COLDTRACE_TRY(check_ewf_segments(segments, findings));
  std::size_t opened = 0;
  std::unique_ptr<EwfImage> image;
  const auto open = [&](std::size_t count) {
    auto next = open_segments(*ewf, std::span{segments}.first(count), state);
    if (!next) return false;
    image = std::move(next);
    opened = count;
    return true;
  };
  if (!open(state.chunks.size())) {
    // What libewf bears of many segments it bears of the first of them.
    const auto fewer = fewer_segments(state, state.chunks.size());
    std::size_t low = 0;
    std::size_t high = fewer.size();
    while (low < high) {
      // The last ones mostly; many damaged segments are halved.
      const std::size_t middle = high - low <= most_in_turn ? high - 1 : low + (high - low) / 2;
      if (!open(fewer[middle]))
        high = middle;
      else
        low = middle + 1;
    }
  }
  if (image) {
    if (opened < state.chunks.size()) mark_refused(state, opened);
    image->set_available(state, state.chunks[opened - 1], findings);
    return std::unique_ptr<EwfSource>{std::move(image)};
  }
  const EwfDamageText damage{state.damage};
  tell_damage(
      state,
      {damage.empty() ? fmt::format("libewf does not open {}, although no checksum of a section, "
                                    "table or hash in it fails",
                                    segments.front().substr(segments.front().rfind('/') + 1))
                      : damage.text()},
      std::nullopt, findings);
  return core::fail(ewf_error(0, "open"));
}

}  // namespace coldtrace::ntfs
