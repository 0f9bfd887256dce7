#pragma once

#include <functional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/ntfs/directory_node.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// Names left in unused bytes of a directory's index.
struct SlackName {
  u64 offset;     // of the entry in the image
  u32 directory;  // record
  u32 piece;      // a packed node of one entry
  u32 copies = 1;
};

// The indexes of all directories of a volume: nodes with entries already matched to records.
class DirectoryTable {
 public:
  struct Directory {
    u32 record;
    u16 sequence;
    u8 vcn_shift;  // VCN units in a buffer, log2
    u32 root = Arena::none;
    u32 first_buffer = 0;  // in buffers()
    u32 buffer_count = 0;
    bool may_repeat = false;  // damaged, so that an entry may come twice
  };

  struct Options {
    unsigned jobs = 1;
    bool slack = false;
    // `progress` is given the number of bytes in all buffers and is called with bytes and buffers
    // read; it may be null.
    std::function<core::Progress*(u64 bytes)> begin = {};
  };

  // Reads the index buffers of all directories in disk order.
  static DirectoryTable read(const core::ImageSource& image, const Mft& mft,
                             const RecordTable& records, const Options& options,
                             core::Findings& findings, std::vector<Gap>& gaps);

  // Directories made from the names in records, for an extracted $MFT.
  [[nodiscard]] static DirectoryTable from_names(const RecordTable& records);

  // Adds what is left of indexes in the unused bytes of the records of directories, for an
  // extracted $MFT: read() does it for a volume.
  void read_record_slack(const core::ImageSource& image, const Mft& mft, const RecordTable& records,
                         core::Findings& findings, std::vector<Gap>& gaps);

  [[nodiscard]] const Directory* find(u64 record) const {
    if (record >= by_record_.size() || by_record_[record] == absent) return nullptr;
    return &directories_[by_record_[record]];
  }
  [[nodiscard]] core::ByteView node(u32 piece) const { return arena_->at(piece); }
  // By number of the buffer in its directory; `none` for unused and unusable ones.
  [[nodiscard]] u32 buffer(const Directory& directory, u64 number) const {
    return number < directory.buffer_count ? buffers_[directory.first_buffer + number]
                                           : Arena::none;
  }
  [[nodiscard]] u64 buffer_total() const { return buffers_.size(); }
  [[nodiscard]] const std::vector<SlackName>& slack() const { return slack_; }
  [[nodiscard]] u64 memory() const;  // bytes

 private:
  friend class DirectoryReader;
  static constexpr u32 absent = ~u32{0};
  DirectoryTable() = default;
  void number_directories(u64 records);

  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
  std::vector<Directory> directories_;  // by record
  std::vector<u32> by_record_;          // numbers in directories_
  std::vector<u32> buffers_;
  std::vector<SlackName> slack_;
};

}  // namespace coldtrace::ntfs
