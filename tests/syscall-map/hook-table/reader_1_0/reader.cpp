#include "reader.hpp"

#include <stddef.h>

// In a namespace of its own, since the present reader has the same names.
namespace reader_1_0 {
#include <reader_1_0/hook_table_open.h>
}  // namespace reader_1_0

namespace coldtrace::test {

int open_with_reader_1_0(const void* bytes, std::size_t size) {
  reader_1_0::coldtrace_hook_table table;
  return reader_1_0::coldtrace_hook_open(&table, bytes, size);
}

const char* words_of_reader_1_0(int status) {
  return reader_1_0::coldtrace_hook_status_text(
      static_cast<reader_1_0::coldtrace_hook_status>(status));
}

}  // namespace coldtrace::test
