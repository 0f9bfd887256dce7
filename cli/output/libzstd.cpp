#include "cli/output/libzstd.hpp"

#include "coldtrace/core/loaded_library.hpp"

namespace coldtrace::cli {
const Libzstd* libzstd() {
  static const Libzstd* const loaded = []() -> const Libzstd* {
    static Libzstd all{};
    return core::LoadedLibrary{"libzstd.so.1", "ZSTD_"}
                   .find("createCCtx", all.create_packer)
                   .find("freeCCtx", all.free_packer)
                   .find("CCtx_setParameter", all.set)
                   .find("compressStream2", all.pack)
                   .find("createDStream", all.create_unpacker)
                   .find("freeDStream", all.free_unpacker)
                   .find("decompressStream", all.unpack)
                   .find("isError", all.is_error)
                   .find("getErrorName", all.error_name)
                   .is_complete()
               ? &all
               : nullptr;
  }();
  return loaded;
}

}  // namespace coldtrace::cli
