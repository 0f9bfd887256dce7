#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// How many bytes of a line stay where the first `fits` have room: up to a comma in the second half
// of the room or else a blank behind the first `least` bytes. If there is neither, up to a
// separator of a path or behind a dash in the second half, or all that have room.
std::size_t find_line_break(std::string_view line, std::size_t least, std::size_t fits);

// Lets lines that are wider than the terminal go on below, so that nothing of them is lost.
class FittedLines {
 public:
  // From `tree_column` on, if it is not 0, lines have names of a tree, which are in as far as they
  // are deep.
  FittedLines(std::size_t columns, std::size_t tree_column)
      : columns_{columns}, tree_column_{tree_column} {}

  // Appends the next piece of text, which may end anywhere, to `fitted`.
  void append(core::TextBuffer& fitted, std::string_view text);
  // Appends what is left of a last line without an end.
  void finish(core::TextBuffer& fitted);

 private:
  bool break_line(core::TextBuffer& fitted);
  void put(core::TextBuffer& fitted, std::string_view text) const;
  std::size_t indent() const { return is_below_ ? indent_ : 0; }

  std::size_t columns_, tree_column_;
  std::string line_;       // what is not written of it
  bool is_below_ = false;  // a part of the line is written
  u32 indent_ = 0;         // of the other parts
  std::size_t taken_ = 0;  // bytes of the line, without colours, in front of `line_`
};

}  // namespace coldtrace::cli
