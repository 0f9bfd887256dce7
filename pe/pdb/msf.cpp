#include "coldtrace/pdb/msf.hpp"

#include <algorithm>
#include <string_view>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic =
    "Microsoft C/C++ MSF 7.00\r\n\x1a"
    "DS\0\0\0"sv;
constexpr std::string_view magic_2 =
    "Microsoft C/C++ program database 2.00\r\n\x1a"
    "JG\0\0"sv;
constexpr u64 block_map_offset = 52;         // in the superblock
constexpr u64 directory_list_offset_2 = 60;  // the directory's blocks, in a PDB 2.00
constexpr u32 deleted = 0xffff'ffff;

constexpr u64 blocks_for(u64 size, u64 block_size) {
  return size / block_size + (size % block_size != 0 ? 1 : 0);
}

void check_block_size(core::Reader& in, u64 at, u32 size) {
  // Source of the sizes above 4,096: LLVM, isValidBlockSize in MSFCommon.h.
  constexpr u32 smallest = 512;
  constexpr u32 largest = 32'768;
  if (size < smallest || size > largest || (size & (size - 1)) != 0)
    in.reject(core::Fault::bad_value, at, "BlockSize", 4096, size);
}

}  // namespace

Msf::Superblock Msf::read_superblock(core::Reader& in) {
  Superblock read{0, 0, 0, sizeof(u32)};
  const auto found = in.take(magic.size(), "FileMagic");
  if (core::to_chars(found) != magic) in.reject(core::Fault::bad_magic, 0, "FileMagic", 0, 0);
  const auto at = in.offset();
  read.block_size = in.read_u32("BlockSize");
  in.skip(4, "FreeBlockMapBlock");
  read.blocks = in.read_u32("NumBlocks");
  read.directory_size = in.read_u32("NumDirectoryBytes");
  in.skip(4, "Unknown");
  check_block_size(in, at, read.block_size);
  return read;
}

Msf::Superblock Msf::read_superblock_2(core::Reader& in) {
  Superblock read{0, 0, 0, sizeof(u16)};
  in.skip(magic_2.size(), "szMagic");
  const auto at = in.offset();
  read.block_size = in.read_u32("cbPg");
  in.skip(2, "pnFpm");
  read.blocks = in.read_u16("pnMac");
  read.directory_size = in.read_u32("siSt.cb");
  in.skip(4, "siSt.mpspnpn");
  check_block_size(in, at, read.block_size);
  return read;
}

core::Result<Msf> Msf::open(const core::FileView& file, core::Findings& findings) {
  const auto head = file.clip(0, std::min(file.size(), directory_list_offset_2));
  const bool is_version_2 = core::to_chars(head).starts_with(magic_2);
  core::Reader in{is_version_2 ? head : file.clip(0, block_map_offset), "MSF superblock", 0};
  const auto superblock = is_version_2 ? read_superblock_2(in) : read_superblock(in);
  if (!in.ok()) return core::fail(in.error());

  const u64 stored_blocks = blocks_for(file.size(), superblock.block_size);
  if (u64{superblock.blocks} * superblock.block_size > file.size())
    findings.warning(
        "pdb-truncated", file.size(), "{} of {} bytes {} declared, but the file has {}",
        core::counted(superblock.blocks, "block", "blocks"), superblock.block_size,
        superblock.blocks == 1 ? "is" : "are", core::counted(file.size(), "byte", "bytes"));
  Msf msf{file, superblock, std::min<u64>(superblock.blocks, stored_blocks)};
  COLDTRACE_TRY(msf.read_directory(file, superblock.directory_size));
  msf.read_streams(findings);
  return msf;
}

u64 Msf::block_of(core::ByteView block_list, u64 index) const {
  return is_version_2() ? core::load<u16>(block_list, index * sizeof(u16)).value_or(0)
                        : core::load<u32>(block_list, index * sizeof(u32)).value_or(0);
}

// The numbers of the directory's blocks: of a PDB 2.00 in the superblock, else in blocks that the
// superblock lists.
core::Result<StreamBytes> Msf::read_directory_list(const core::FileView& file, u64 count) {
  const u64 at = is_version_2() ? directory_list_offset_2 : block_map_offset;
  const u64 list_size = count * number_size_;
  const u64 listed = is_version_2() ? list_size : blocks_for(list_size, block_size_) * number_size_;
  const auto list = file.slice(at, listed);
  if (!list || (!is_version_2() && at + list->size() > block_size_))
    return core::fail({core::Fault::truncated, std::min(at, file.size()), "MSF superblock",
                       "BlockMapAddr", block_size_, file.size()});
  if (is_version_2()) return StreamBytes{*list};
  directory_offset_ = block_of(*list, 0) * block_size_;
  return join(*list, 0, list_size, at, "MSF block map");
}

core::Result<core::Done> Msf::read_directory(const core::FileView& file, u32 size) {
  const core::Name name{"MSF stream directory"};
  const u64 block_count = blocks_for(size, block_size_);
  if (block_count > block_count_)
    return core::fail({core::Fault::limit, is_version_2() ? u64{52} : u64{44}, "MSF superblock",
                       "NumDirectoryBytes", block_count_ * block_size_, size});
  const auto list = COLDTRACE_TRY(read_directory_list(file, block_count));
  directory_ = COLDTRACE_TRY(join(list.view(), 0, size, directory_offset_, name));
  directory_offset_ = block_of(list.view(), 0) * block_size_;
  const auto count = core::load<u32>(directory_.view(), 0);
  const u64 room = (directory_.view().size() - std::min<u64>(4, directory_.view().size())) /
                   (is_version_2() ? 8 : 4);
  const u64 declared = is_version_2() ? count.value_or(0) & 0xffffU : count.value_or(0);
  if (!count || declared > room)
    return core::fail({core::Fault::out_of_bounds, std::min(directory_offset_, file.size()), name,
                       "NumStreams", room, declared});
  return core::Done{};
}

void Msf::read_streams(core::Findings& findings) {
  const auto directory = directory_.view();
  const u64 count = is_version_2() ? core::load<u16>(directory, 0).value_or(0)
                                   : core::load<u32>(directory, 0).value_or(0);
  const u64 entry_size = is_version_2() ? 8 : 4;  // with the address that it had in memory
  streams_.reserve(count);
  u64 list = 4 + entry_size * count;
  u64 without_blocks = 0;
  for (u64 i = 0; i < count; ++i) {
    const auto size = core::load<u32>(directory, 4 + entry_size * i).value_or(deleted);
    streams_.push_back({size, list});
    // Neither sum nor product can wrap: at most 2^30 streams of at most 2^23 blocks.
    if (size != deleted) list += blocks_for(size, block_size_) * number_size_;
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
                                blocks_for(*size, block_size_) * number_size_);
  if (!list)
    return core::fail({core::Fault::out_of_bounds, at, structure, "stream blocks",
                       directory_.view().size(), *size});
  return join(*list, position, length, at, structure);
}

std::optional<u64> Msf::offset_of(u32 index, u64 position) const {
  const auto size = stream_size(index);
  if (!size || position >= *size) return std::nullopt;
  const auto list = core::slice(directory_.view(), streams_[index].block_list,
                                (position / block_size_ + 1) * number_size_);
  const auto block = list ? block_of(*list, position / block_size_) : block_count_;
  if (block >= block_count_) return std::nullopt;
  return block * block_size_ + position % block_size_;
}

core::ParseError Msf::placed(core::ParseError error, u32 index) const {
  const u64 position = error.offset;
  error.offset = std::min(directory_offset_, file_.size());
  if (const auto at = offset_of(index, position))
    error.offset = *at;
  else if (const auto last = position > 0 ? offset_of(index, position - 1) : std::nullopt)
    error.offset = *last + 1;
  return error;
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
    if (i > first && block != block_of(block_list, i - 1) + 1) in_one_piece = false;
  }
  const auto piece = [&](u64 index, u64 within, u64 size) -> core::Result<core::ByteView> {
    const u64 offset = block_of(block_list, index) * block_size_ + within;
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
