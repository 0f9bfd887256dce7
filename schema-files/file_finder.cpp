#include "schema-files/file_finder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/instrumentation/instrumentation_manifest.hpp"
#include "schema-files/file_walk.hpp"
#include "schema-files/manifest_file.hpp"
#include "schema-files/module_file.hpp"
#include "schema-files/stored_file.hpp"

namespace coldtrace::schema_files {

using tracefile::InstrumentationManifest;

namespace {

core::Result<std::shared_ptr<const SchemaStore>> open_store(const std::string& path,
                                                            const FileTree& tree) {
  return SchemaStore::open(COLDTRACE_TRY(tree.source(path)));
}

}  // namespace

FoundFiles find_files(const std::string& path, const FileTree& tree) {
  constexpr std::string_view pe_magic = "MZ";
  FoundFiles found;
  const auto unreadable = [&](const core::ParseError& error) {
    found.why = reason_of(error);
    found.is_damaged = tree.is_machine();  // a volume tells of its own
    return found;
  };
  auto start = tree.read(path, 0, SchemaStore::magic_size);
  if (!start) return unreadable(start.error());
  if (core::to_chars(*start).starts_with(pe_magic)) {
    auto search = SchemaModule::find(path, tree);
    if (search.module)
      found.files.push_back(std::make_shared<const ModuleFile>(std::move(*search.module)));
    found.why = std::move(search.why);
    found.is_damaged = search.is_damaged;
    return found;
  }
  if (SchemaStore::is_store(*start)) {
    const auto store = open_store(path, tree);
    if (store) {
      found.files = StoredFile::all_of(path, *store);
      found.why = "an empty schema store";
    } else {
      found.why = fmt::format("a schema store that cannot be used: {}", store.error());
      found.is_damaged = true;
    }
    return found;
  }
  found.why = "not a PE file, an instrumentation manifest or a schema store";
  start = tree.read(path, 0, InstrumentationManifest::likely_size);
  if (!start) return unreadable(start.error());
  if (!InstrumentationManifest::is_likely(*start)) return found;
  auto manifest = ManifestFile::read(path, tree);
  if (manifest) {
    found.files.push_back(std::move(*manifest));
    return found;
  }
  const auto& error = manifest.error();
  found.why = fmt::format("{}", error);
  found.is_damaged = InstrumentationManifest::has_root(*start) &&
                     error.field != InstrumentationManifest::no_provider;
  return found;
}

}  // namespace coldtrace::schema_files
