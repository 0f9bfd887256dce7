#include "coldtrace/schema_files/store_builder.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include <zlib.h>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/text.hpp"
#include "schema-files/file_finder.hpp"
#include "schema-files/language_check.hpp"
#include "schema-files/schema_module.hpp"
#include "schema-files/store_format.hpp"
#include "schema-files/stored_provider.hpp"

namespace coldtrace::schema_files {
namespace {

class Bytes {
 public:
  template <class T>
  Bytes& number(T value) {
    for (unsigned i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>(static_cast<u64>(value) >> 8 * i));
    return *this;
  }
  Bytes& append(core::ByteView bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Bytes& append(std::string_view text) { return append(std::as_bytes(std::span{text})); }
  std::size_t size() const { return bytes_.size(); }
  core::ByteView view() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Each text once, behind its size.
class TextTable {
 public:
  u32 add(std::string_view text) {
    text = text.substr(0, 0xffff);
    const auto [place, is_new] =
        places_.try_emplace(std::string{text}, static_cast<u32>(bytes_.size()));
    if (is_new) bytes_.number(static_cast<u16>(text.size())).append(text);
    return place->second;
  }
  core::ByteView view() const { return bytes_.view(); }

 private:
  std::map<std::string, u32> places_;
  Bytes bytes_;
};

std::vector<std::byte> pack(const std::vector<std::byte>& bytes) {
  constexpr int best = 9;
  std::vector<std::byte> packed(::compressBound(bytes.size()));
  uLongf size = packed.size();
  auto* const to = static_cast<Bytef*>(static_cast<void*>(packed.data()));
  const auto* const from = static_cast<const Bytef*>(static_cast<const void*>(bytes.data()));
  static_cast<void>(::compress2(to, &size, from, bytes.size(), best));  // there is room
  packed.resize(size);
  return packed;
}

}  // namespace

struct StoreBuilder::Base {
  std::size_t record;  // index
  RecordParts parts;
};

StoreBuilder::StoreBuilder(std::vector<std::string> languages, Digest digest)
    : languages_{std::move(languages)}, digest_{std::move(digest)} {}

StoreBuilder::~StoreBuilder() = default;

void StoreBuilder::add(const FileTree& tree, const std::string& path, core::Findings& findings,
                       const Begin& begin) {
  const auto paths = tree.list(path, findings);
  const bool is_file = paths.size() == 1 && paths.front() == path;
  LanguageFolders folders{tree};
  LanguageCheck check;
  const auto size_of = [&](const std::string& file) -> u64 {
    std::error_code unknown;
    const auto size = tree.is_machine() ? std::filesystem::file_size(file, unknown) : 0;
    return unknown ? 0 : size;
  };
  u64 bytes = 0;
  if (begin)
    for (const auto& one : paths) bytes += size_of(one);
  auto* const progress = begin ? begin(bytes) : nullptr;
  for (const auto& one : paths) {
    const auto found = find_files(one, tree);
    if (tree.is_machine() && (is_file || found.is_damaged || !found.files.empty()))
      sources_.push_back(one);
    if (found.is_damaged || (is_file && found.files.empty()))
      findings.warning("schema-file", std::nullopt, "{}: {}", one, found.why);
    for (const auto& file : found.files)
      add_file(*file, path, {languages_, folders, findings}, check);
    if (progress != nullptr) progress->add(size_of(one), 1);
  }
  check.report(languages_, findings);
}

void StoreBuilder::add_file(const DeclaringFile& file, const std::string& top,
                            const ReadContext& context, LanguageCheck& check) {
  const auto open = file.open(context);
  const auto& tree = context.folders.tree();
  const bool is_stored = !file.store().empty();
  const auto version = file.version().value_or(std::string{});
  std::optional<std::size_t> index;
  const auto guids = file.providers();
  for (const auto& guid : std::set<core::Guid>{guids.begin(), guids.end()}) {
    auto* const declared = open->find(guid);
    if (declared == nullptr) continue;
    Row row{guid, declared->name(), 0, 0, 0, file.is_recreated(guid)};
    const auto record = add_record(*declared, row.events);
    if (!record) {
      context.findings.warning(
          "schema-limit", std::nullopt,
          "{}: what it declares for {} takes more than the {} bytes that a store keeps",
          file.path(), declared->name(), StoreFormat::largest_record);
      continue;
    }
    row.record = *record;
    // Windows has copies of its files in several folders.
    if (!known_rows_.emplace(guid, row.record, version).second) continue;
    if (!index) {
      index = files_.size();
      files_.push_back({is_stored ? file.path() : tree.stored_path(file.path(), top),
                        version,
                        {},
                        is_stored ? file.sha256() : digest_of(file.path(), tree),
                        {}});
    }
    row.file = *index;
    events_ += row.events;
    rows_.push_back(std::move(row));
  }
  if (index) {
    check.note(file.path(), *open);
    files_[*index].language = open->language();
    const auto texts = open->language_file();
    files_[*index].language_file = is_stored ? texts : tree.stored_path(texts, top);
  }
}

std::string StoreBuilder::digest_of(const std::string& path, const FileTree& tree) const {
  const auto file = tree.open(path, largest_module);
  const auto bytes = file ? (*file)->view().all() : std::nullopt;
  return bytes ? digest_(*bytes) : std::string{};
}

std::optional<std::size_t> StoreBuilder::add_record(tracefile::ProviderSchemas& declared,
                                                    u32& events) {
  auto base = std::make_unique<Base>();
  const auto bytes = write_provider(declared, events, base->parts);
  if (bytes.size() > StoreFormat::largest_record) return std::nullopt;
  const auto packed = pack(bytes);
  const auto [known, is_new] = known_.try_emplace({declared.guid(), packed}, records_.size());
  if (!is_new) return known->second;
  Record record{packed, static_cast<u32>(bytes.size())};
  base->record = records_.size();
  const auto [first, is_first] = bases_.try_emplace(declared.guid(), std::move(base));
  if (!is_first) {
    RecordParts parts{&first->second->parts};
    const auto rest = write_provider(declared, events, parts);
    if (auto smaller = pack(rest); smaller.size() < packed.size())
      record = {std::move(smaller), static_cast<u32>(rest.size()), first->second->record};
  }
  records_.push_back(std::move(record));
  return known->second;
}

std::vector<std::byte> StoreBuilder::finish() const {
  Bytes records;
  std::vector<u64> places;
  for (const auto& record : records_) {
    places.push_back(StoreFormat::head_size + records.size());
    records.append(record.packed);
  }
  auto rows = rows_;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.guid < b.guid; });
  std::map<std::pair<core::Guid, std::size_t>, u32> numbers;  // of rows, from 1
  for (const auto& row : rows)
    numbers.try_emplace({row.guid, row.record}, static_cast<u32>(&row - rows.data()) + 1);
  TextTable texts;
  Bytes directory;
  for (const auto& row : rows) {
    const auto& record = records_[row.record];
    directory.append(row.guid.bytes)
        .number(places[row.record])
        .number(static_cast<u32>(record.packed.size()))
        .number(record.unpacked)
        .number(core::crc32c(record.packed))
        .number(static_cast<u32>(row.file))
        .number(row.events)
        .number(texts.add(row.name))
        .number(row.recreated ? StoreFormat::flag_recreated : u32{0})
        .number(record.base ? numbers.at({row.guid, *record.base}) : u32{0});
  }
  for (const auto& file : files_)
    for (const auto& text :
         {file.path, file.version, file.language_file, file.sha256, file.language})
      directory.number(texts.add(text));
  directory.append(texts.view());

  const u64 at = StoreFormat::head_size + records.size();
  Bytes rest;  // of the head, which its checksum is of
  rest.number(at + directory.size())
      .number(at)
      .number(u64{directory.size()})
      .number(core::crc32c(directory.view()))
      .number(static_cast<u32>(rows.size()))
      .number(static_cast<u32>(files_.size()))
      .number(static_cast<u32>(StoreFormat::file_size));
  Bytes store;
  store.append(StoreFormat::magic)
      .number(SchemaStore::format_version)
      .number(core::crc32c(rest.view()))
      .append(rest.view())
      .append(records.view())
      .append(directory.view());
  return store.take();
}

}  // namespace coldtrace::schema_files
