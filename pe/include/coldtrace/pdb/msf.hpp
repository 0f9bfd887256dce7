#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/lazy_file.hpp"

namespace coldtrace::pe {

// Bytes of a stream: a view of the file if they are contiguous, otherwise a copy of their blocks.
class StreamBytes {
 public:
  StreamBytes() = default;
  explicit StreamBytes(core::BorrowedBytes view) : view_{view.get()} {}
  explicit StreamBytes(std::vector<std::byte> bytes) : bytes_{std::move(bytes)}, view_{bytes_} {}
  StreamBytes(StreamBytes&&) = default;  // views stay valid, since the bytes do not move
  StreamBytes& operator=(StreamBytes&&) = default;
  StreamBytes(const StreamBytes&) = delete;
  StreamBytes& operator=(const StreamBytes&) = delete;

  [[nodiscard]] core::ByteView view() const { return view_; }

 private:
  std::vector<std::byte> bytes_;
  core::ByteView view_;
};

// A multi-stream file, the container of PDBs: numbered streams in blocks at arbitrary places. MSF
// 7.00, and that of PDB 2.00, which has 16-bit numbers of blocks and streams. A view: the file must
// outlive it. Streams are read on demand. Sources: LLVM, "The MSF File Format"; for a block map of
// several blocks and for PDB 2.00, BIGMSF_HDR.mpspnpn, MSF_HDR and StrmTbl of Microsoft's
// microsoft-pdb, PDB/msf/msf.cpp.
class Msf {
 public:
  // Fails if the superblock or the stream directory cannot be used.
  static core::Result<Msf> open(const core::FileView& file, core::Findings& findings);

  // Whether it is a PDB 2.00.
  [[nodiscard]] bool is_version_2() const { return number_size_ == sizeof(u16); }
  [[nodiscard]] u32 block_size() const { return block_size_; }
  [[nodiscard]] u64 file_size() const { return file_.size(); }
  [[nodiscard]] u64 stream_count() const { return streams_.size(); }

  // Nothing: there is no such stream, or it was deleted.
  [[nodiscard]] std::optional<u32> stream_size(u32 index) const;

  // A whole stream. Blocks outside the file and blocks that occur twice are errors, so that no
  // stream is larger than the file.
  core::Result<StreamBytes> read(u32 index, core::Name structure) const;

  // `length` bytes at `position` of the stream; only their blocks are read.
  core::Result<StreamBytes> read(u32 index, u64 position, u64 length, core::Name structure) const;

  // The place in the file of byte `position` of a stream.
  [[nodiscard]] std::optional<u64> offset_of(u32 index, u64 position) const;

  // An error whose offset is a position in a stream, with the offset in the file: behind the last
  // byte where the stream ends, and at the stream directory, which has its size, where it has none.
  [[nodiscard]] core::ParseError placed(core::ParseError error, u32 index) const;
  template <class T>
  core::Result<T> placed(core::Result<T> result, u32 index) const {
    if (result) return result;
    return core::fail(placed(result.error(), index));
  }

 private:
  struct Stream {
    u32 size;
    u64 block_list;  // position in the directory
  };

  // The contents of the first block.
  struct Superblock {
    u32 block_size, blocks, directory_size, number_size;
  };

  Msf(const core::FileView& file, const Superblock& superblock, u64 block_count)
      : file_{file},
        block_size_{superblock.block_size},
        number_size_{superblock.number_size},
        block_count_{block_count} {}

  static Superblock read_superblock(core::Reader& in);
  static Superblock read_superblock_2(core::Reader& in);
  core::Result<StreamBytes> read_directory_list(const core::FileView& file, u64 count);
  core::Result<core::Done> read_directory(const core::FileView& file, u32 size);
  [[nodiscard]] u64 block_of(core::ByteView block_list, u64 index) const;
  void read_streams(core::Findings& findings);
  core::Result<StreamBytes> join(core::ByteView block_list, u64 position, u64 length, u64 at,
                                 core::Name structure) const;

  core::FileView file_;
  u32 block_size_;
  u32 number_size_;           // of a block number, in bytes
  u64 block_count_;           // of those in the file, the last possibly truncated
  u64 directory_offset_ = 0;  // of its first block
  StreamBytes directory_;
  std::vector<Stream> streams_;
};

}  // namespace coldtrace::pe
