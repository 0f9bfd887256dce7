#include "coldtrace/pe/found_directories.hpp"

#include <utility>

namespace coldtrace::pe {
namespace {

template <class T>
std::optional<T> found(core::Result<T> read, core::Name code, core::Findings& findings) {
  if (read) return std::move(*read);
  findings.warning(code, read.error());
  return std::nullopt;
}

template <class T>
std::optional<T> found(core::Result<std::optional<T>> read, core::Name code,
                       core::Findings& findings) {
  if (read) return std::move(*read);
  findings.warning(code, read.error());
  return std::nullopt;
}

}  // namespace

std::optional<ExportDirectory> find_export_directory(const Image& image, core::Findings& findings) {
  return found(read_export_directory(image, findings), "export-directory", findings);
}

std::optional<LoadConfig> find_load_config(const Image& image, core::Findings& findings) {
  return found(read_load_config(image), "load-config", findings);
}

std::optional<TlsDirectory> find_tls_directory(const Image& image, core::Findings& findings) {
  return found(read_tls_directory(image, findings), "tls-directory", findings);
}

std::optional<ClrHeader> find_clr_header(const Image& image, core::Findings& findings) {
  return found(read_clr_header(image), "clr-header", findings);
}

std::optional<u64> find_export_count(const Image& image, core::Findings& findings) {
  return found(count_exports(image, findings), "export-directory", findings);
}

}  // namespace coldtrace::pe
