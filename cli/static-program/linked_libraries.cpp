// Stands for dlopen() and dlsym() in the static programs (the linker's --wrap): what coldtrace
// loads is part of them, and nothing else is ever loaded. A library of the system's own would need
// its C library, and abort where that is another one than the program has.

#include <string_view>

#include <dlfcn.h>

#ifdef COLDTRACE_LINKED
extern "C" {
#define LINKED(library, function) extern char function[];
#include "cli/static-program/linked_functions.inc"
#undef LINKED
}
#endif

namespace {

struct Linked {
  std::string_view library;
  std::string_view function;
  void* address;
};

constexpr Linked linked[] = {
#ifdef COLDTRACE_LINKED
#define LINKED(library, function) {#library, #function, function},
#include "cli/static-program/linked_functions.inc"
#undef LINKED
#endif
    {"", "", nullptr}};

}  // namespace

extern "C" {

void* __wrap_dlopen(const char* name, int flags);         // NOLINT(bugprone-reserved-identifier)
void* __wrap_dlsym(void* library, const char* function);  // NOLINT(bugprone-reserved-identifier)

// The library's first row, for "libewf.so.2" that of libewf.
void* __wrap_dlopen(const char* name, int) {  // NOLINT(bugprone-reserved-identifier)
  const std::string_view wanted{name == nullptr ? "" : name};
  const auto stem = wanted.substr(0, wanted.find(".so"));
  for (const auto& row : linked)
    if (!stem.empty() && row.library == stem) return const_cast<Linked*>(&row);
  return nullptr;
}

void* __wrap_dlsym(void* library, const char* function) {  // NOLINT(bugprone-reserved-identifier)
  if (library == nullptr) return nullptr;
  const auto& first = *static_cast<const Linked*>(library);
  for (const auto* row = &first; row->library == first.library; ++row)
    if (row->function == function) return row->address;
  return nullptr;
}
}
