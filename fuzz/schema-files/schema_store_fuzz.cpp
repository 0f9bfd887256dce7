// Any store: it is refused, or what it holds is bounded and reads any payload without leaving it.
// The first byte says whether checksums are made right and records are taken as they are behind
// that.

#include <array>
#include <cstdint>
#include <span>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/schema_files/schema_store.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "schema-files/store_format.hpp"
#include "schema-files/stored_provider.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::schema_files;

void write_number(std::vector<std::byte>& bytes, std::size_t at, u32 value) {
  for (unsigned i = 0; i < sizeof value; ++i)
    bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
}

// The checksums of head and directory, as far as there are these.
void mend(std::vector<std::byte>& bytes) {
  if (bytes.size() < StoreFormat::head_size) return;
  const auto at = *core::load<u64>(bytes, 24);
  const auto size = *core::load<u64>(bytes, 32);
  const auto directory = core::slice(bytes, at, size);
  if (directory) write_number(bytes, 40, core::crc32c(*directory));
  const auto head = core::ByteView{bytes}.first(StoreFormat::head_size);
  write_number(bytes, 12, core::crc32c(head.subspan(StoreFormat::checked_from)));
}

void use(tracefile::ProviderSchemas& declared) {
  std::array<std::byte, 64> payload;
  payload.fill(std::byte{2});
  std::size_t looked_at = 0;
  for (const auto& event : declared.events()) {
    if (++looked_at > 64) break;  // to fuzz is to be quick
    const auto schema = declared.find(event.id, event.version);
    if (!schema) continue;
    if (schema->fields.size() > tracefile::most_fields) __builtin_trap();
    const auto fixed = tracefile::fixed_fields(*schema, 8);
    if (tracefile::measure_fields(*schema, payload, 8, fixed).consumed > payload.size())
      __builtin_trap();
  }
  // What is written again is the same.
  u32 events = 0, same = 0;
  RecordParts parts, parts_again, parts_once_more;
  const auto written = write_provider(declared, events, parts);
  const auto again = read_provider(written, declared.guid(), {}, 0);
  if (!again) __builtin_trap();
  if (write_provider(**again, same, parts_again) != written || same != events) __builtin_trap();
  // So is what is based on itself.
  RecordParts none{&parts};
  const auto based =
      read_provider(write_provider(declared, events, none), declared.guid(), {}, 0, written);
  if (!based) __builtin_trap();
  if (write_provider(**based, same, parts_once_more) != written || same != events) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span{data, size});
  std::vector<std::byte> bytes{input.begin() + 1, input.end()};
  if (data[0] == 'r') {
    if (const auto read = read_provider(bytes, {}, {}, 0)) use(**read);
    return 0;
  }
  if (data[0] == 'm') mend(bytes);
  const auto store = SchemaStore::open(std::make_unique<core::MemoryImage>(bytes));
  if (!store) return 0;
  std::size_t looked_at = 0;
  for (const auto& provider : (*store)->providers()) {
    if (++looked_at > 64) break;
    if (provider.file >= (*store)->files().size()) __builtin_trap();
    if (const auto read = (*store)->read(provider, {})) use(**read);
  }
  return 0;
}
