#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/schema_files/file_tree.hpp"
#include "coldtrace/tracefile/instrumentation/wevt_resource.hpp"

namespace coldtrace::schema_files {

// Larger than any image that Windows loads.
constexpr u64 largest_module = u64{1} << 30;

// A PE file that declares event providers, according to its headers and resource directory.
struct SchemaModule {
  std::string path;
  u64 offset = 0;  // of the resource in the file
  u64 size = 0;    // as much as the file has
  std::vector<core::Guid> providers;
  const FileTree* tree = nullptr;  // the tree it is in, which has to outlive it

  struct Search;
  // Reads no more of the file than that.
  [[nodiscard]] static Search find(const std::string& path, const FileTree& tree = machine_files());

  // The bytes of the resource.
  core::Result<std::vector<std::byte>> read() const;

  // "10.0.19041.3155", if the file has one.
  [[nodiscard]] std::optional<std::string> file_version() const;
};

// No module, and `why`, for a file that is not a PE image or declares no providers; `is_damaged` if
// providers may be lost because what would name them cannot be read.
struct SchemaModule::Search {
  std::optional<SchemaModule> module;
  std::string why;
  bool is_damaged = false;
};

}  // namespace coldtrace::schema_files
