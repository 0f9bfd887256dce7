#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/schema_files/language_folders.hpp"
#include "coldtrace/schema_files/schema_store.hpp"

namespace coldtrace::schema_files {

class DeclaringFile;
class LanguageCheck;
struct ReadContext;

// Collects what files declare into a store.
class StoreBuilder {
 public:
  // The SHA-256 of a file's bytes in hexadecimal. A store has none for a file that cannot be read.
  using Digest = std::function<std::string(core::ByteView bytes)>;
  // Is given the total size of the files, 0 if not known, and returns what to inform of each file;
  // null: nothing.
  using Begin = std::function<core::Progress*(u64 bytes)>;

  // Texts are in the first of the languages in which a file has them.
  StoreBuilder(std::vector<std::string> languages, Digest digest);
  StoreBuilder(const StoreBuilder&) = delete;
  StoreBuilder& operator=(const StoreBuilder&) = delete;
  ~StoreBuilder();

  // Adds a file, or those of a folder and of all folders below it, and the contents of stores. A
  // named file that declares nothing is a finding, and so is damage.
  void add(const std::string& path, core::Findings& findings, const Begin& begin = {}) {
    add(machine_files(), path, findings, begin);
  }
  void add(const FileTree& tree, const std::string& path, core::Findings& findings,
           const Begin& begin = {});

  // The files of this machine that were read: those that declare something, are damaged or were
  // named.
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }

  [[nodiscard]] std::size_t files() const { return files_.size(); }
  [[nodiscard]] std::size_t providers() const { return rows_.size(); }
  [[nodiscard]] u64 events() const { return events_; }

  // The bytes of the store.
  [[nodiscard]] std::vector<std::byte> finish() const;

 private:
  struct Row {
    core::Guid guid;
    std::string name;
    std::size_t file, record;  // indexes
    u32 events;
    bool recreated;
  };
  struct Record {
    std::vector<std::byte> packed;
    u32 unpacked = 0;
    std::optional<std::size_t> base = std::nullopt;  // index of another one
  };
  // The first record of a provider, on which others are based.
  struct Base;

  void add_file(const DeclaringFile& file, const std::string& top, const ReadContext& context,
                LanguageCheck& check);
  std::string digest_of(const std::string& path, const FileTree& tree) const;
  // Nothing if the provider declares more than a store can hold.
  std::optional<std::size_t> add_record(tracefile::ProviderSchemas& declared, u32& events);

  std::vector<std::string> languages_;
  Digest digest_;
  std::vector<std::string> sources_;
  std::vector<SchemaStore::File> files_;
  std::vector<Row> rows_;
  std::vector<Record> records_;
  // By provider and its record packed without a base.
  std::map<std::pair<core::Guid, std::vector<std::byte>>, std::size_t> known_;
  std::map<core::Guid, std::unique_ptr<Base>> bases_;
  std::set<std::tuple<core::Guid, std::size_t, std::string>> known_rows_;  // with the version
  u64 events_ = 0;
};

}  // namespace coldtrace::schema_files
