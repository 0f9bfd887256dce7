#pragma once

#include <optional>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {

// Clusters that are consecutive in a stream and on the disk.
struct DataRun {
  u64 clusters;
  std::optional<Lcn> start;  // absent: a hole, reads as zeros. LCN 0 is valid.
};

// The mapping pairs up to their terminator, without the padding of the attribute after it.
[[nodiscard]] core::ByteView trim_runs(core::ByteView runs);
template <core::TemporaryBytes T>
core::ByteView trim_runs(T&&) = delete;

// The mapping pairs of one attribute, in order. Bounded by its bytes; a list that fills its
// attribute may lack the terminator. Source: linux-ntfs documentation, "Data Runs".
class DataRunReader {
 public:
  // `offset` is that of the list in the image, for errors.
  DataRunReader(core::BorrowedBytes runs, u64 offset) : runs_{runs.get()}, base_{offset} {}

  // Nothing at the end and at the first invalid pair, which `damage()` then reports.
  std::optional<DataRun> next();
  [[nodiscard]] const std::optional<core::ParseError>& damage() const { return damage_; }

 private:
  std::optional<DataRun> stop(core::Fault fault, core::Name field, u64 expected, u64 found);

  core::ByteView runs_;
  u64 base_;
  u64 at_ = 0;
  u64 previous_ = 0;  // LCN of the last run that was not a hole
  std::optional<core::ParseError> damage_;
};

}  // namespace coldtrace::ntfs
