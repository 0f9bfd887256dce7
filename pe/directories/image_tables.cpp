#include "coldtrace/pe/image_tables.hpp"

#include <utility>

namespace coldtrace::pe {

const ImageTables::Exports& ImageTables::exports() const {
  if (exports_) return *exports_;
  exports_.emplace();
  auto read = read_export_directory(image_, exports_->findings);
  if (!read) {
    exports_->error = read.error();
    exports_->findings.warning("export-directory", read.error());
  } else if (*read) {
    exports_->directory = std::move(**read);
  }
  return *exports_;
}

const std::map<std::string_view, Rva>& ImageTables::export_places() const {
  if (export_places_) return *export_places_;
  export_places_.emplace();
  for (const auto& entry : exports().directory.exports)
    if (!entry.name.empty() && !entry.is_forwarder)
      export_places_->emplace(entry.name, entry.address);
  return *export_places_;
}

std::optional<Rva> ImageTables::find_export(std::string_view name) const {
  const auto& places = export_places();
  const auto found = places.find(name);
  return found == places.end() ? std::nullopt : std::optional{found->second};
}

const ImageTables::Relocations& ImageTables::relocations() const {
  if (relocations_) return *relocations_;
  relocations_.emplace();
  relocations_->entries = read_base_relocations(image_, relocations_->findings);
  return *relocations_;
}

const std::vector<FunctionRange>& ImageTables::functions() const {
  core::Findings ignored;
  if (!functions_) functions_ = read_function_ranges(image_, ignored);
  return *functions_;
}

}  // namespace coldtrace::pe
