#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/temporary_file.hpp"

namespace coldtrace::core {

// Any amount of texts sorted by a number, stably: what exceeds `most_in_memory` bytes goes to a
// temporary file in sorted runs, which are merged in the end.
class SortedLines {
 public:
  static constexpr std::size_t usual_memory = std::size_t{32} << 20;

  explicit SortedLines(std::size_t most_in_memory = usual_memory)
      : most_in_memory_{most_in_memory} {}

  // Fails when the temporary file cannot be written.
  Result<Done> add(u64 key, std::string_view text);

  // Passes all of them to `visit` in order, and forgets them.
  Result<Done> take(const std::function<void(std::string_view)>& visit);

 private:
  struct Line {
    u64 key;
    std::size_t start;
    u32 size;
  };

  void sort();
  std::string_view text_of(const Line& line) const {
    return std::string_view{text_}.substr(line.start, line.size);
  }
  Result<Done> spill();
  Result<Done> merge(const std::function<void(std::string_view)>& visit);

  std::size_t most_in_memory_;
  std::vector<Line> lines_;
  std::string text_;
  std::unique_ptr<TemporaryFile> file_;
  std::vector<u64> runs_;  // where each ends in the file
};

}  // namespace coldtrace::core
