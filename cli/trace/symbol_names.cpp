#include "cli/trace/symbol_names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/lines/traced_image.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::FunctionName;
using trace_analysis::NameSource;

SymbolStore::Loaded to_loaded(const tracefile::TracedImage& image) {
  return {image.name, to_loaded_file(image)};
}

std::optional<std::string> path_or_null(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return path;
}

}  // namespace

SymbolNames::SymbolNames(const tracefile::NameTables& names, const SymbolOptions& options,
                         core::Findings& findings, Report& report,
                         const std::vector<pe::PdbReference>& message_pdbs)
    : names_{names}, offsets_{names} {
  if (!options.any()) return;
  store_.emplace(options, findings, report);
  std::vector<SymbolStore::Loaded> images;
  for (u32 i = 0; i < names_.image_files().size(); ++i)
    images.push_back(to_loaded(names_.image_files()[i]));
  store_->note_unmatched(images, message_pdbs);
}

FunctionName SymbolNames::find(std::optional<u32> pid, u64 address, i64 time) {
  if (names_.find_method(pid, address, time)) return offsets_.find(pid, address, time);
  const auto image = names_.find_image(pid, address, time);
  if (!image) return {};
  const auto offset = address - image->base;
  const std::lock_guard lock{mutex_};
  auto* const used = store_ ? find_used(image->file) : nullptr;
  std::optional<pe::CodeSymbols::Place> place;
  if (used != nullptr && offset <= ~u32{0})
    place = used->files->symbols.find(pe::Rva{static_cast<u32>(offset)});
  if (!place) return offsets_.find(pid, address, time);
  const auto symbol = used->files->symbols.symbol(place->number);
  if (!used->named[place->number]) {
    used->named[place->number] = true;
    ++(symbol.source == pe::SymbolSource::pdb ? used->by_pdb : used->by_exports);
  }
  return {std::string{image->name.substr(image->name.rfind('\\') + 1)}, offset,
          std::string{symbol.name}, place->offset,
          symbol.source == pe::SymbolSource::pdb ? NameSource::pdb : NameSource::exports};
}

SymbolNames::Used* SymbolNames::find_used(u32 file) {
  const auto [place, added] = by_image_.try_emplace(file, nullptr);
  if (!added) return place->second;
  const auto& image = names_.image_files()[file];
  auto files = store_->find(to_loaded(image));
  if (!files) return nullptr;
  const auto known = std::find_if(used_.begin(), used_.end(),
                                  [&](const auto& used) { return used->files == files; });
  if (known != used_.end()) return place->second = known->get();
  const auto symbols = files->symbols.size();
  used_.push_back(
      std::make_unique<Used>(Used{image.name, std::move(files), std::vector<bool>(symbols), 0, 0}));
  return place->second = used_.back().get();
}

SymbolNames::Sums SymbolNames::sums() const {
  Sums sums;
  for (const auto& used : used_) {
    sums.by_pdb += used->by_pdb;
    sums.by_exports += used->by_exports;
  }
  for (const auto& [file, used] : by_image_)
    if (used == nullptr) ++sums.without;
  return sums;
}

void SymbolNames::write(JsonWriter& json) const {
  json.key("symbols");
  if (!store_) {
    json.value(nullptr);
    return;
  }
  const auto all = sums();
  json.begin_object()
      .field("by_pdb", all.by_pdb)
      .field("by_exports", all.by_exports)
      .field("images_without", all.without)
      .key("files")
      .begin_array();
  for (const auto& used : used_) {
    json.begin_object()
        .field("name", used->name)
        .field("image", path_or_null(used->files->image))
        .field("pdb", path_or_null(used->files->pdb))
        .field("by_pdb", used->by_pdb)
        .field("by_exports", used->by_exports)
        .key("findings");
    write_findings(json, used->files->findings);
    json.end_object();
  }
  json.end_array().end_object();
}

void SymbolNames::write_text(Output& output) const {
  if (!store_) return;
  const auto all = sums();
  print(output, "\nFunctions named by PDBs: {}, by exports: {}; images without symbols: {}\n",
        all.by_pdb, all.by_exports, all.without);
}

void SymbolNames::finish(Report& report) const {
  if (store_) store_->finish(report);
}

}  // namespace coldtrace::cli
