#include "cli/images/type_file.hpp"

#include "cli/images/symbol_file.hpp"

namespace coldtrace::cli {

std::optional<pe::TypeFile> open_type_file(const std::string& path, Report& report) {
  auto file = pe::TypeFile::open(path);
  if (file) return std::move(*file);
  report_no_pdb(path, file.error(), report);
  return std::nullopt;
}

}  // namespace coldtrace::cli
