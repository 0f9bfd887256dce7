#include "coldtrace/schema_files/schema_store.hpp"

#include <algorithm>

#include <zlib.h>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/schema_files/language_folders.hpp"
#include "schema-files/store_format.hpp"
#include "schema-files/stored_provider.hpp"

namespace coldtrace::schema_files {
namespace {

using core::Fault;
using core::ParseError;

core::Result<std::vector<std::byte>> read_bytes(const core::ImageSource& source, u64 offset,
                                                u64 size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (const auto done = source.read_at(offset, bytes); !done) return core::fail(done.error());
  return bytes;
}

// Texts of the directory.
class Texts {
 public:
  explicit Texts(core::ByteView bytes) : bytes_{bytes} {}

  std::optional<std::string> find(u32 offset) {
    const auto size = core::load<u16>(bytes_, offset);
    const auto text = size ? core::slice(bytes_, u64{offset} + sizeof(u16), *size) : std::nullopt;
    if (!text) return std::nullopt;
    return core::to_valid_utf8(core::to_chars(*text));
  }

 private:
  core::ByteView bytes_;
};

auto refuse(Fault fault, u64 place, core::Name field, u64 expected, u64 found) {
  return core::fail(ParseError{fault, place, "schema store", field, expected, found});
}

// What the file starts with.
struct Head {
  u32 version;
  bool has_languages;
  u64 at;  // of the directory
  u64 directory_size;
  u32 crc;  // of the directory
  u64 providers;
  u64 files;
  u64 rows_size;
};

core::Result<Head> read_head(const core::ImageSource& source) {
  const auto bytes =
      COLDTRACE_TRY(read_bytes(source, 0, std::min(source.size(), StoreFormat::head_size)));
  core::Reader in{bytes, "schema store", 0};
  const auto magic = in.take(SchemaStore::magic_size, "magic");
  if (in.ok() && !SchemaStore::is_store(magic)) in.reject(Fault::bad_magic, 0, "magic", 0, 0);
  const auto version = in.read_u32("version");
  if (in.ok() && (version < SchemaStore::first_version || version > SchemaStore::format_version))
    in.reject(Fault::unsupported, SchemaStore::magic_size, "version", SchemaStore::format_version,
              version);
  const auto head_crc = in.read_u32("checksum");
  const auto size = in.read_u64("size");
  const auto at = in.read_u64("offset of the directory");
  const auto directory_size = in.read_u64("size of the directory");
  const auto crc = in.read_u32("checksum of the directory");
  const u64 providers = in.read_u32("providers");
  const u64 files = in.read_u32("files");
  const auto row_size = in.read_u32("size of a row of a file");
  if (!in.ok()) return core::fail(in.error());
  const auto own = core::crc32c(core::ByteView{bytes}.subspan(StoreFormat::checked_from));
  if (own != head_crc) return refuse(Fault::bad_value, 12, "checksum", head_crc, own);
  const bool has_languages = version != SchemaStore::first_version;
  if (row_size != (has_languages ? StoreFormat::file_size : 0))
    return refuse(Fault::bad_value, 52, "size of a row of a file", StoreFormat::file_size,
                  row_size);
  if (size != source.size()) return refuse(Fault::truncated, 16, "size", size, source.size());
  if (at > size || directory_size > size - at)
    return refuse(Fault::out_of_bounds, 24, "directory", size, at);
  if (directory_size > StoreFormat::largest_directory)
    return refuse(Fault::limit, 32, "size of the directory", StoreFormat::largest_directory,
                  directory_size);
  const auto rows_size =
      providers * StoreFormat::provider_size +
      files * (has_languages ? StoreFormat::file_size : StoreFormat::first_file_size);
  if (rows_size > directory_size)
    return refuse(Fault::out_of_bounds, 44, "rows", directory_size, rows_size);
  return Head{version, has_languages, at, directory_size, crc, providers, files, rows_size};
}

// A base is of the same provider and has none itself.
core::Result<core::Done> check_bases(const std::vector<SchemaStore::Provider>& rows) {
  for (const auto& row : rows) {
    if (!row.base) continue;
    const bool is_base =
        *row.base < rows.size() && rows[*row.base].guid == row.guid && !rows[*row.base].base;
    if (!is_base)
      return core::fail(
          ParseError{Fault::bad_value, row.offset, "schema store", "base", rows.size(), *row.base});
  }
  return core::Done{};
}

}  // namespace

bool SchemaStore::is_store(core::ByteView start) {
  return core::to_chars(start).starts_with(StoreFormat::magic);
}

core::Result<std::shared_ptr<const SchemaStore>> SchemaStore::open(const std::string& path) {
  auto file = core::FileImage::open(path);
  if (!file) return core::fail(file.error());
  return open(std::move(*file));
}

core::Result<std::shared_ptr<const SchemaStore>> SchemaStore::open(
    std::unique_ptr<const core::ImageSource> source) {
  const std::shared_ptr<SchemaStore> store{new SchemaStore};
  store->source_ = std::move(source);
  if (const auto done = store->read_directory(); !done) return core::fail(done.error());
  if (const auto done = check_bases(store->providers_); !done) return core::fail(done.error());
  return store;
}

core::Result<core::Done> SchemaStore::read_directory() {
  const auto head = COLDTRACE_TRY(read_head(*source_));
  const auto directory = COLDTRACE_TRY(read_bytes(*source_, head.at, head.directory_size));
  const auto sum = core::crc32c(directory);
  if (sum != head.crc)
    return refuse(Fault::bad_value, 40, "checksum of the directory", head.crc, sum);

  Texts texts{core::ByteView{directory}.subspan(static_cast<std::size_t>(head.rows_size))};
  core::Reader rows{directory, "schema store", head.at};
  u64 text_size = 0;
  const auto text = [&](core::Name field) {
    const auto place = rows.offset();
    const auto offset = rows.read_u32(field);
    auto found = texts.find(offset);
    text_size += found ? found->size() : 0;
    // In UTF-8 what is damaged takes three times its bytes; rows may share texts.
    if (!found || text_size > 4 * StoreFormat::largest_directory)
      rows.reject(Fault::out_of_bounds, place, field, head.directory_size - head.rows_size, offset);
    return found.value_or(std::string{});
  };
  for (u64 i = 0; i < head.providers && rows.ok(); ++i) {
    Provider row;
    const auto place = rows.offset();
    row.guid = core::to_guid(rows.take(core::Guid::size_on_disk, "GUID"));
    row.offset = rows.read_u64("offset");
    row.packed = rows.read_u32("packed size");
    row.unpacked = rows.read_u32("size");
    row.crc = rows.read_u32("checksum");
    row.file = rows.read_u32("file");
    row.events = rows.read_u32("events");
    row.name = text("name");
    row.recreated = (rows.read_u32("flags") & StoreFormat::flag_recreated) != 0;
    const auto base = rows.read_u32("base");
    if (base != 0 && head.version >= first_with_bases) row.base = base - 1;
    if (row.offset > head.at || row.packed > head.at - row.offset)
      rows.reject(Fault::out_of_bounds, place, "offset", head.at, row.offset);
    if (row.unpacked > StoreFormat::largest_record)
      rows.reject(Fault::limit, place, "size", StoreFormat::largest_record, row.unpacked);
    if (row.file >= head.files)
      rows.reject(Fault::out_of_bounds, place, "file", head.files, row.file);
    if (!providers_.empty() && row.guid < providers_.back().guid)
      rows.reject(Fault::bad_value, place, "order of GUIDs", 0, 0);
    providers_.push_back(std::move(row));
  }
  for (u64 i = 0; i < head.files && rows.ok(); ++i) {
    File row;
    row.path = text("path");
    row.version = text("version");
    row.language_file = text("language file");
    row.sha256 = text("SHA-256");
    row.language =
        head.has_languages ? text("language") : LanguageFolders::language_of(row.language_file);
    files_.push_back(std::move(row));
  }
  if (!rows.ok()) return core::fail(rows.error());
  return core::Done{};
}

core::Result<std::vector<std::byte>> SchemaStore::read_packed(const Provider& provider) const {
  auto packed = COLDTRACE_TRY(read_bytes(*source_, provider.offset, provider.packed));
  const auto sum = core::crc32c(packed);
  if (sum != provider.crc)
    return refuse(Fault::bad_value, provider.offset, "checksum of a provider", provider.crc, sum);
  return packed;
}

core::Result<std::vector<std::byte>> SchemaStore::unpack(const Provider& provider) const {
  const auto refuse_size = [&](Fault fault, u64 expected, u64 found) {
    return refuse(fault, provider.offset, "size", expected, found);
  };
  const auto most =
      std::max(StoreFormat::least_unpacked, source_->size() * StoreFormat::unpacked_per_byte);
  if (const auto all = unpacked_ += provider.unpacked; all > most)
    return refuse_size(Fault::limit, most, all);
  const auto packed = COLDTRACE_TRY(read_packed(provider));
  std::vector<std::byte> bytes(provider.unpacked);
  uLongf size = bytes.size();
  const auto* const from = static_cast<const Bytef*>(static_cast<const void*>(packed.data()));
  auto* const to = static_cast<Bytef*>(static_cast<void*>(bytes.data()));
  if (::uncompress(to, &size, from, packed.size()) != Z_OK || size != bytes.size())
    return refuse_size(Fault::bad_value, bytes.size(), size);
  return bytes;
}

core::Result<std::unique_ptr<tracefile::ProviderSchemas>> SchemaStore::read(
    const Provider& provider, const std::string& source) const {
  auto bytes = COLDTRACE_TRY(unpack(provider));
  std::vector<std::byte> base;
  if (provider.base) base = COLDTRACE_TRY(unpack(providers_[*provider.base]));
  return read_provider(std::move(bytes), provider.guid, {source, files_[provider.file].version},
                       provider.offset, std::move(base));
}

}  // namespace coldtrace::schema_files
