#include "coldtrace/core/loaded_library.hpp"

#include <utility>

#include <dlfcn.h>

namespace coldtrace::core {

LoadedLibrary::LoadedLibrary(const char* soname, std::string prefix)
    : library_{::dlopen(soname, RTLD_NOW | RTLD_LOCAL)},
      prefix_{std::move(prefix)},
      complete_{library_ != nullptr} {}

void* LoadedLibrary::find_address(const char* name) {
  void* const address = library_ == nullptr ? nullptr : ::dlsym(library_, (prefix_ + name).c_str());
  complete_ = complete_ && address != nullptr;
  return address;
}

}  // namespace coldtrace::core
