#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"

namespace coldtrace::schema_files {

// A schema store (.ctschemas): what many files declare, also of several builds of Windows, found by
// the provider's GUID. Its directory is read when it is opened, a provider when it is asked for.
// The format is described in docs/formats/event-schemas.md.
class SchemaStore {
 public:
  // A file whose providers are stored, as it was when the store was built.
  struct File {
    std::string path;           // begins with the folder that was named
    std::string version;        // empty: none
    std::string language_file;  // with its texts; empty: none
    std::string sha256;         // hexadecimal
    std::string language;       // of the texts, "en-US"; empty: no texts, or not known
  };
  struct Provider {
    core::Guid guid;
    std::string name;
    u32 file = 0;            // index into files()
    u32 events = 0;          // kinds it declares
    bool recreated = false;  // by a tool, from what Windows says of it
    u64 offset = 0;          // of its packed record
    u32 packed = 0, unpacked = 0, crc = 0;
    std::optional<u32> base = std::nullopt;  // index into providers(): what this record is based on
  };

  static constexpr u32 format_version = 3;
  static constexpr u32 first_version = 1;  // lacks the languages of texts; still read
  static constexpr u32 first_with_bases = 3;
  static constexpr std::size_t magic_size = 8;

  // Whether a file that begins with these bytes is a store, of any version.
  [[nodiscard]] static bool is_store(core::ByteView start);

  // Refuses a damaged store: building it again is easier than repairing it.
  static core::Result<std::shared_ptr<const SchemaStore>> open(const std::string& path);
  static core::Result<std::shared_ptr<const SchemaStore>> open(
      std::unique_ptr<const core::ImageSource> source);

  [[nodiscard]] const std::vector<File>& files() const { return files_; }
  // Sorted by GUID, those of one GUID in the order in which they were added.
  [[nodiscard]] const std::vector<Provider>& providers() const { return providers_; }

  // What a record declares; `source` becomes the source of its schemas.
  core::Result<std::unique_ptr<tracefile::ProviderSchemas>> read(const Provider& provider,
                                                                 const std::string& source) const;
  // The record, still packed, its checksum verified.
  core::Result<std::vector<std::byte>> read_packed(const Provider& provider) const;

 private:
  SchemaStore() = default;
  core::Result<core::Done> read_directory();
  core::Result<std::vector<std::byte>> unpack(const Provider& provider) const;

  std::unique_ptr<const core::ImageSource> source_;
  std::vector<File> files_;
  std::vector<Provider> providers_;
  mutable std::atomic<u64> unpacked_ = 0;  // bytes so far
};

}  // namespace coldtrace::schema_files
