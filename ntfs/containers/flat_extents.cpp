#include "ntfs/containers/flat_extents.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/containers/vmdk_extents.hpp"
#include "ntfs/containers/parent_files.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using Where = MappedBytes::Where;

constexpr u64 flat_sector = 512;
constexpr u64 most_sectors = u64{1} << 54U;
constexpr u64 longest_descriptor = u64{1} << 20U;

struct FlatPart {
  u64 begin = 0;  // in the disk, bytes
  u64 length = 0;
  std::unique_ptr<core::FileImage> file;  // null: zeros
  u64 offset = 0;                         // in the file
};

class FlatMap final : public DiskMap {
 public:
  explicit FlatMap(std::vector<FlatPart> extents) : extents_{std::move(extents)} {}

  core::Result<MappedBytes> find(u64 offset) const override {
    const auto& extent =
        *std::prev(std::ranges::upper_bound(extents_, offset, {}, &FlatPart::begin));
    const u64 inside = offset - extent.begin;
    if (inside >= extent.length)
      return core::fail({Fault::missing, offset, "VMDK image", "extent", 0, 0});
    const u64 length = extent.length - inside;
    if (!extent.file) return MappedBytes{Where::zeros, length, nullptr, 0};
    return MappedBytes{Where::file, length, extent.file.get(), extent.offset + inside};
  }

 private:
  std::vector<FlatPart> extents_;  // one behind the other, at least one, the first at 0
};

std::string_view take_extent_word(std::string_view& line) {
  const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(begin);
  const auto word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

std::optional<u64> to_sectors(std::string_view word) {
  u64 number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number >= most_sectors)
    return std::nullopt;
  return number;
}

// A line of a descriptor: 'RW 81920 FLAT "disk-flat.vmdk" 2048', 'RW 2048 ZERO'.
// Source: VMware, "Virtual Disk Format 5.0", "The FlatPart Description".
struct ExtentLine {
  u64 sectors = 0;
  std::string_view type;
  std::string_view name;
  u64 offset = 0;  // sectors

  bool is_zeros() const { return type == "ZERO"; }
};

bool is_extent(std::string_view line) {
  const auto access = take_extent_word(line);
  return access == "RW" || access == "RDONLY" || access == "NOACCESS";
}

// The name of its file; empty where it has none.
std::string_view name_in_extent(std::string_view line) {
  const auto begin = line.find('"');
  const auto end = line.rfind('"');
  return begin == end ? std::string_view{} : line.substr(begin + 1, end - begin - 1);
}

std::string_view take_line(std::string_view& text) {
  auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Nothing where it is not an extent of a flat file or of zeros.
std::optional<ExtentLine> read_flat_extent(std::string_view line) {
  ExtentLine extent;
  if (take_extent_word(line) == "NOACCESS") return std::nullopt;
  const auto sectors = to_sectors(take_extent_word(line));
  extent.type = take_extent_word(line);
  if (!sectors || *sectors == 0) return std::nullopt;
  extent.sectors = *sectors;
  if (extent.is_zeros()) return extent;
  extent.name = name_in_extent(line);
  if ((extent.type != "FLAT" && extent.type != "VMFS") || extent.name.empty()) return std::nullopt;
  line.remove_prefix(line.rfind('"') + 1);
  const auto word = take_extent_word(line);
  const auto offset = word.empty() ? std::optional<u64>{0} : to_sectors(word);
  if (!offset) return std::nullopt;
  extent.offset = *offset;
  return extent;
}

std::vector<ExtentLine> read_flat_extents(std::string_view text) {
  std::vector<ExtentLine> extents;
  if (text.find("parentFileNameHint") != std::string_view::npos) return extents;
  while (!text.empty()) {
    const auto line = take_line(text);
    if (!is_extent(line)) continue;
    const auto extent = read_flat_extent(line);
    if (!extent) return {};
    extents.push_back(*extent);
  }
  return extents;
}

}  // namespace

std::vector<std::string> list_extents(const std::string& path) {
  std::vector<std::string> files;
  const auto bytes = core::read_whole_file(path, longest_descriptor);
  if (!bytes || core::recognize_bytes(*bytes) != core::FileKind::vmdk_descriptor) return files;
  std::set<std::string_view> names;
  auto text = core::to_chars(*bytes);
  while (!text.empty()) {
    const auto line = take_line(text);
    const auto name = is_extent(line) ? name_in_extent(line) : std::string_view{};
    if (name.empty() || !names.insert(name).second) continue;
    if (auto beside = find_beside(path, name); beside && *beside != path)
      files.push_back(std::move(*beside));
  }
  return files;
}

FlatExtents open_flat_extents(const std::string& path, OpenProblem& problem) {
  FlatExtents found;
  const auto text = core::read_whole_file(path, longest_descriptor);
  if (!text) return found;
  std::vector<FlatPart> extents;
  for (const auto& line : read_flat_extents(core::to_chars(*text))) {
    FlatPart extent{found.size, line.sectors * flat_sector, nullptr, line.offset * flat_sector};
    if (found.size + extent.length > most_sectors) return {};
    found.simple = found.simple && line.offset == 0 && !line.is_zeros();
    found.size += extent.length;
    if (!line.is_zeros()) {
      const auto beside = find_beside(path, line.name);
      auto file = beside ? core::FileImage::open(*beside)
                         : core::fail({Fault::missing, 0, "file", "open", 0, 0});
      if (!file) {
        problem = {OpenProblem::What::extent, beside
                                                  ? describe_unread_extent(line.name, file.error())
                                                  : describe_missing_extent(line.name)};
        return {};
      }
      extent.file = std::move(*file);
    }
    extents.push_back(std::move(extent));
  }
  if (!extents.empty()) found.map = std::make_unique<FlatMap>(std::move(extents));
  return found;
}

}  // namespace coldtrace::ntfs
