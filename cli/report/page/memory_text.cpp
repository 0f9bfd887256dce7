#include "cli/report/page/memory_text.hpp"

namespace coldtrace::cli {

std::optional<std::string> text_in_memory(std::size_t most,
                                          const std::function<void(Output&)>& write) {
  BufferPool pool;
  Output memory{most, pool};
  std::vector<core::TextBuffer> pieces;
  try {
    write(memory);
    memory.take(pieces);
  } catch (const TooLong&) {
    return std::nullopt;
  }
  std::string text;
  for (const auto& piece : pieces) text += piece.view();
  return text;
}

}  // namespace coldtrace::cli
