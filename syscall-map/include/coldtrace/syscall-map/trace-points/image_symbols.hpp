#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/named_place.hpp"

namespace coldtrace::syscall_map {

// PDBs, and symbol tables made from them, for several images: each uses those that belong to it.
class ImageSymbols {
 public:
  explicit ImageSymbols(std::vector<pe::SymbolFile> files);

  // The place of the public symbol of this name, according to all files with the image's GUID, age
  // and machine; those without section headers use the image's. If it is in none of them, that is
  // `no-match`; if it is at several places, `symbol-ambiguous`.
  [[nodiscard]] std::optional<NamedPlace> find(const pe::Image& image, const pe::Identity& identity,
                                               std::string_view name, core::Findings& findings);

  // All public symbols of these files that have an address, each once.
  [[nodiscard]] std::vector<NamedPlace> all(const pe::Image& image, const pe::Identity& identity);

  // To be called when all images have been processed: a file that belongs to none of them has the
  // finding `pdb-mismatch`.
  void finish();

  [[nodiscard]] std::span<const pe::SymbolFile> files() const { return files_; }

 private:
  std::vector<const pe::SymbolFile*> find_files(const pe::Image& image,
                                                const pe::Identity& identity);

  std::vector<pe::SymbolFile> files_;
  struct {
    std::optional<pe::PdbReference> pdb;
    pe::Machine machine{};
  } last_image_;  // that found no file
};

}  // namespace coldtrace::syscall_map
