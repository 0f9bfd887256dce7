#include "tracefile/providers/event_source_manifest.hpp"

#include <span>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/instrumentation/instrumentation_manifest.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t largest_manifest = 8 << 20;  // all that are under way together
constexpr std::size_t most_assemblies = 256;
constexpr std::size_t most_schemas = 16'384;

constexpr u16 manifest_id = 0xfffe;
constexpr u8 manifest_opcode = 0xfe;
constexpr u8 manifest_magic = 0x5b;

}  // namespace

core::Result<EventManifest> read_event_manifest(std::string_view xml, u64 offset) {
  const auto document = InstrumentationManifest::read(std::as_bytes(std::span{xml}), 0, {});
  if (!document) {
    auto error = document.error();
    error.offset = offset;
    return core::fail(error);
  }
  EventManifest manifest;
  core::Findings findings;
  const auto schemas =
      document->find(document->providers().front(), {{}, most_fields * 16}, findings);
  manifest.provider = schemas->guid();
  manifest.provider_name = schemas->name();
  manifest.names = schemas->names();
  for (const auto& event : schemas->events()) {
    if (manifest.schemas.size() >= most_schemas) break;
    if (const auto schema = schemas->find(event.id, event.version))
      manifest.schemas.emplace_back(SchemaKey{manifest.provider, event.id, event.version, false},
                                    *schema);
  }
  for (const auto& damage : document->text_damage()) manifest.damage.push_back(damage.text);
  manifest.cut = findings.count("schema-name") > 0;
  return manifest;
}

bool is_manifest_chunk(const Event& event) {
  return event.event_class == EventClass::manifest && event.id == manifest_id &&
         event.opcode == manifest_opcode;
}

std::shared_ptr<const EventSchema> manifest_chunk_schema() {
  static const auto schema = [] {
    EventSchema chunk;
    chunk.event_name = "ManifestData";
    const auto add = [&](const char* name, InType in) {
      FieldSchema field;
      field.name = name;
      field.in = in;
      chunk.fields.push_back(std::move(field));
    };
    add("Format", InType::u8);
    add("MajorVersion", InType::u8);
    add("MinorVersion", InType::u8);
    add("Magic", InType::u8);
    add("TotalChunks", InType::u16);
    add("ChunkNumber", InType::u16);
    add("Text", InType::unterminated_ansi);
    return std::make_shared<const EventSchema>(std::move(chunk));
  }();
  return schema;
}

std::optional<std::string> ManifestAssembler::add(const Event& event) {
  // u8 format, u8 major, u8 minor, u8 magic, u16 total chunks, u16 chunk, then text.
  const auto header = core::Fields<8>::at(event.payload, 0);
  if (!header || header->get<u8, 0>() != 1 || header->get<u8, 3>() != manifest_magic)
    return std::nullopt;
  const auto total = header->get<u16, 4>();
  const auto chunk = header->get<u16, 6>();
  const std::pair key{event.provider, event.pid.value_or(0)};
  if (chunk == 0) {
    if (pieces_.size() >= most_assemblies && !pieces_.contains(key)) return std::nullopt;
    auto& pieces = pieces_[key];
    held_ -= pieces.text.size();
    pieces = {total, 0, {}};
  }
  const auto found = pieces_.find(key);
  if (found == pieces_.end()) return std::nullopt;
  auto& pieces = found->second;
  if (chunk != pieces.next || total != pieces.total) return std::nullopt;
  const auto text = core::to_chars(event.payload.subspan(8));
  if (text.size() > largest_manifest - held_) {
    held_ -= pieces.text.size();
    pieces_.erase(found);
    return std::nullopt;
  }
  held_ += text.size();
  pieces.text += text;
  if (++pieces.next < pieces.total) return std::nullopt;
  auto whole = std::move(pieces.text);
  held_ -= whole.size();
  pieces_.erase(found);
  return whole;
}

}  // namespace coldtrace::tracefile
