#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/pe/base_relocations.hpp"
#include "coldtrace/pe/exception_directory.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// The tables of an image that several readers need: each is read once, on first use. A view: the
// image must outlive it. One thread at a time.
class ImageTables {
 public:
  // For a call that uses only an image; one that keeps the tables must be given them by name.
  ImageTables(const Image& image) : image_{image} {}  // NOLINT(*-explicit-*)
  explicit ImageTables(Image&&) = delete;
  ImageTables(const ImageTables&) = delete;
  ImageTables& operator=(const ImageTables&) = delete;

  [[nodiscard]] const Image& image() const { return image_; }

  // The export directory; empty if there is none. One that cannot be read is an error, and the
  // finding `export-directory`.
  struct Exports {
    ExportDirectory directory;
    std::optional<core::ParseError> error;
    core::Findings findings;
  };
  [[nodiscard]] const Exports& exports() const;

  // The address of each exported name; forwarders have none. Of several with one name, the first is
  // used.
  [[nodiscard]] const std::map<std::string_view, Rva>& export_places() const;
  [[nodiscard]] std::optional<Rva> find_export(std::string_view name) const;

  struct Relocations {
    std::vector<BaseRelocation> entries;  // ascending
    core::Findings findings;
  };
  [[nodiscard]] const Relocations& relocations() const;

  // As read_function_ranges() gives them; "pe info" reports their oddities.
  [[nodiscard]] const std::vector<FunctionRange>& functions() const;

 private:
  const Image& image_;
  mutable std::optional<Exports> exports_;
  mutable std::optional<std::map<std::string_view, Rva>> export_places_;
  mutable std::optional<Relocations> relocations_;
  mutable std::optional<std::vector<FunctionRange>> functions_;
};

}  // namespace coldtrace::pe
