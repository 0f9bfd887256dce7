#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/ntfs/query/sort_key.hpp"
#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::cli {

// Passes the rows that a query found to the output: as they come, or sorted, with the rows in a
// temporary file and their keys in memory.
class ChosenRows {
 public:
  using Write = std::function<void(std::string_view)>;

  ChosenRows(Write write, std::optional<SortOrder> order, std::optional<u64> limit)
      : write_{std::move(write)}, order_{order}, limit_{limit} {}

  // Adds a row as text; `key` is needed only if rows are sorted.
  void add(SortKey key, std::string_view text);

  // To be called after all rows: writes the sorted ones.
  void end();

  u64 matched() const { return matched_; }

 private:
  struct Kept {
    SortKey key;
    u64 number;  // in the order of the input
    u64 offset;
    u64 size;
  };

  static u64 memory_of(const Kept& row) { return sizeof(Kept) + row.key.text.capacity(); }
  bool is_before(const Kept& one, const Kept& other) const;
  void keep(SortKey key, std::string_view text);
  void drop_behind_limit();

  Write write_;
  std::optional<SortOrder> order_;
  std::optional<u64> limit_;
  u64 matched_ = 0;
  std::vector<Kept> kept_;
  u64 memory_ = 0;
  std::optional<Kept> last_;  // rows after it are beyond the limit
  std::unique_ptr<core::TemporaryFile> file_;
};

}  // namespace coldtrace::cli
