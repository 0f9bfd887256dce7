#include "cli/output/libzstd.hpp"

#include <bit>

#include <dlfcn.h>

namespace coldtrace::cli {
namespace {

template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = std::bit_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_functions(void* library, Libzstd& all) {
  return find_function(library, "ZSTD_createCCtx", all.create_packer) &&
         find_function(library, "ZSTD_freeCCtx", all.free_packer) &&
         find_function(library, "ZSTD_CCtx_setParameter", all.set) &&
         find_function(library, "ZSTD_compressStream2", all.pack) &&
         find_function(library, "ZSTD_createDStream", all.create_unpacker) &&
         find_function(library, "ZSTD_freeDStream", all.free_unpacker) &&
         find_function(library, "ZSTD_decompressStream", all.unpack) &&
         find_function(library, "ZSTD_isError", all.is_error) &&
         find_function(library, "ZSTD_getErrorName", all.error_name);
}

}  // namespace

const Libzstd* libzstd() {
  static const Libzstd* const loaded = []() -> const Libzstd* {
    void* const library = ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    static Libzstd functions{};
    return library != nullptr && find_functions(library, functions) ? &functions : nullptr;
  }();
  return loaded;
}

}  // namespace coldtrace::cli
