#include "coldtrace/pdb/msf.hpp"

#include <algorithm>
#include <string_view>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic =
    "Microsoft C/C++ MSF 7.00\r\n\x1a"
    "DS\0\0\0"sv;
constexpr u64 block_map_offset = 52;  // in the superblock
constexpr u32 deleted = 0xffff'ffff;

constexpr u64 blocks_for(u64 size, u64 block_size) {
  return size / block_size + (size % block_size != 0 ? 1 : 0);
}

u32 block_of(core::ByteView block_list, u64 index) {
  return core::load<u32>(block_list, index * 4).value_or(0);
}

}  // namespace

core::Result<Msf> Msf::open(const core::FileView& file, core::Findings& findings) {
  core::Reader in{file.clip(0, block_map_offset), "MSF superblock", 0};
  const auto found = in.take(magic.size(), "FileMagic");
  if (core::to_chars(found) != magic) in.reject(core::Fault::bad_magic, 0, "FileMagic", 0, 0);
  const auto at = in.offset();
  const auto block_size = in.read_u32("BlockSize");
  in.skip(4, "FreeBlockMapBlock");
  const auto declared_blocks = in.read_u32("NumBlocks");
  const auto directory_size = in.read_u32("NumDirectoryBytes");
  in.skip(4, "Unknown");
  // Source of the sizes above 4,096: LLVM, isValidBlockSize in MSFCommon.h.
  constexpr u32 smallest = 512;
  constexpr u32 largest = 32'768;
  if (block_size < smallest || block_size > largest || (block_size & (block_size - 1)) != 0)
    in.reject(core::Fault::bad_value, at, "BlockSize", 4096, block_size);
  if (!in.ok()) return core::fail(in.error());

  const u64 stored_blocks = blocks_for(file.size(), block_size);
  if (u64{declared_blocks} * block_size > file.size())
    findings.warning("pdb-truncated", file.size(),
                     "{} blocks of {} bytes are declared, the file has {} bytes", declared_blocks,
                     block_size, file.size());
  Msf msf{file, block_size, std::min<u64>(declared_blocks, stored_blocks)};
  COLDTRACE_TRY(msf.read_directory(file, directory_size));
  msf.read_streams(findings);
  return msf;
}

core::Result<core::Done> Msf::read_directory(const core::FileView& file, u32 size) {
  const core::Name name{"MSF stream directory"};
  const u64 block_count = blocks_for(size, block_size_);
  if (block_count > block_count_)
    return core::fail({core::Fault::limit, 44, "MSF superblock", "NumDirectoryBytes",
                       block_count_ * block_size_, size});
  const u64 list_size = block_count * 4;
  const auto map = file.slice(block_map_offset, blocks_for(list_size, block_size_) * 4);
  if (!map || block_map_offset + map->size() > block_size_)
    return core::fail({core::Fault::truncated, std::min(block_map_offset, file.size()),
                       "MSF superblock", "BlockMapAddr", block_size_, file.size()});
  const auto list = COLDTRACE_TRY(join(*map, 0, list_size, block_map_offset, "MSF block map"));
  directory_offset_ = u64{block_of(*map, 0)} * block_size_;
  directory_ = COLDTRACE_TRY(join(list.view(), 0, size, directory_offset_, name));
  directory_offset_ = u64{block_of(list.view(), 0)} * block_size_;
  const auto count = core::load<u32>(directory_.view(), 0);
  if (!count || *count > (directory_.view().size() - 4) / 4)
    return core::fail({core::Fault::out_of_bounds, std::min(directory_offset_, file.size()), name,
                       "NumStreams", directory_.view().size() / 4, count.value_or(0)});
  return core::Done{};
}

void Msf::read_streams(core::Findings& findings) {
  const auto directory = directory_.view();
  const u64 count = core::load<u32>(directory, 0).value_or(0);
  streams_.reserve(count);
  u64 list = 4 + 4 * count;
  u64 without_blocks = 0;
  for (u64 i = 0; i < count; ++i) {
    const auto size = core::load<u32>(directory, 4 + 4 * i).value_or(deleted);
    streams_.push_back({size, list});
    // Neither sum nor product can wrap: at most 2^30 streams of at most 2^23 blocks.
    if (size != deleted) list += blocks_for(size, block_size_) * 4;
    if (list > directory.size()) ++without_blocks;
  }
  if (without_blocks > 0)
    findings.warning("pdb-directory", std::min(directory_offset_, file_.size()),
                     "the stream directory ends before the block lists of {} of its {} streams",
                     without_blocks, count);
}

std::optional<u32> Msf::stream_size(u32 index) const {
  if (index >= streams_.size() || streams_[index].size == deleted) return std::nullopt;
  return streams_[index].size;
}

core::Result<StreamBytes> Msf::read(u32 index, core::Name structure) const {
  return read(index, 0, stream_size(index).value_or(0), structure);
}

core::Result<StreamBytes> Msf::read(u32 index, u64 position, u64 length,
                                    core::Name structure) const {
  const u64 at = std::min(directory_offset_, file_.size());
  const auto size = stream_size(index);
  if (!size)
    return core::fail(
        {core::Fault::out_of_bounds, at, structure, "stream index", streams_.size(), index});
  if (position > *size || length > *size - position)
    return core::fail({core::Fault::truncated, at, structure, "stream size",
                       core::saturating_add(position, length), *size});
  const auto list = core::slice(directory_.view(), streams_[index].block_list,
                                blocks_for(*size, block_size_) * 4);
  if (!list)
    return core::fail({core::Fault::out_of_bounds, at, structure, "stream blocks",
                       directory_.view().size(), *size});
  return join(*list, position, length, at, structure);
}

std::optional<u64> Msf::offset_of(u32 index, u64 position) const {
  const auto size = stream_size(index);
  if (!size || position >= *size) return std::nullopt;
  const auto block =
      core::load<u32>(directory_.view(), streams_[index].block_list + position / block_size_ * 4);
  if (!block || *block >= block_count_) return std::nullopt;
  return u64{*block} * block_size_ + position % block_size_;
}

// The bytes of blocks: `at` is where errors lie. All are checked before any is copied.
core::Result<StreamBytes> Msf::join(core::ByteView block_list, u64 position, u64 length, u64 at,
                                    core::Name structure) const {
  if (length == 0) return StreamBytes{};
  const u64 first = position / block_size_;
  const u64 end = (position + length - 1) / block_size_ + 1;
  if (end - first > block_count_)
    return core::fail({core::Fault::limit, at, structure, "blocks", block_count_, end - first});
  std::vector<bool> seen(end - first > 1 ? block_count_ : 0);
  bool in_one_piece = true;
  for (u64 i = first; i < end; ++i) {
    const u64 block = block_of(block_list, i);
    // Block 0 is the superblock.
    if (block == 0 || block >= block_count_)
      return core::fail({core::Fault::out_of_bounds, at, structure, "block", block_count_, block});
    if (!seen.empty() && seen[block])
      return core::fail({core::Fault::loop, at, structure, "block", block_count_, block});
    if (!seen.empty()) seen[block] = true;
    if (i > first && block != u64{block_of(block_list, i - 1)} + 1) in_one_piece = false;
  }
  const auto piece = [&](u64 index, u64 within, u64 size) -> core::Result<core::ByteView> {
    const u64 offset = u64{block_of(block_list, index)} * block_size_ + within;
    const auto bytes = file_.slice(offset, size);
    if (!bytes)
      return core::fail({core::Fault::truncated, std::min(offset, file_.size()), structure, "block",
                         size, file_.size() - std::min(offset, file_.size())});
    return *bytes;
  };
  const u64 within = position % block_size_;
  if (in_one_piece) return StreamBytes{COLDTRACE_TRY(piece(first, within, length))};
  std::vector<std::byte> joined;
  joined.reserve(length);
  for (u64 i = first; i < end; ++i) {
    const u64 start = i == first ? within : 0;
    const u64 size = std::min(block_size_ - start, length - joined.size());
    const auto bytes = COLDTRACE_TRY(piece(i, start, size));
    joined.insert(joined.end(), bytes.begin(), bytes.end());
  }
  return StreamBytes{std::move(joined)};
}

}  // namespace coldtrace::pe
