#include "coldtrace/tracefile/providers/event_decoder.hpp"

#include <algorithm>
#include <bit>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/schema_comparison.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"
#include "coldtrace/tracefile/providers/registered_providers.hpp"
#include "tracefile/providers/event_source_manifest.hpp"
#include "tracefile/providers/kernel_events.hpp"
#include "tracefile/providers/kernel_group.hpp"
#include "tracefile/providers/string_event.hpp"
#include "tracefile/providers/trace_logging.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t most_kinds = 65'536;
constexpr std::string_view kernel_provider = "Windows Kernel";

u64 mix(u64 hash, u64 word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

u64 hash_bytes(core::ByteView bytes) {
  u64 hash = bytes.size();
  while (bytes.size() >= 8) {
    hash = mix(hash, *core::load<u64>(bytes, 0));
    bytes = bytes.subspan(8);
  }
  for (const auto byte : bytes) hash = mix(hash, std::to_integer<u64>(byte));
  return hash;
}

}  // namespace

std::string_view to_string(Undecoded reason) {
  switch (reason) {
    case Undecoded::none:
      return "none";
    case Undecoded::no_schema:
      return "no_schema";
    case Undecoded::unknown_class:
      return "unknown_class";
    case Undecoded::unknown_version:
      return "unknown_version";
    case Undecoded::no_public_layout:
      return "no_public_layout";
    case Undecoded::message_format:
      return "message_format";
    case Undecoded::schema_damaged:
      return "schema_damaged";
    case Undecoded::header_only:
      return "header_only";
  }
  return "unknown";
}

std::vector<std::shared_ptr<const EventSchema>> find_layouts(
    const SchemaSource& schemas, const SchemaKey& key,
    const std::shared_ptr<const EventSchema>& first) {
  std::vector<std::shared_ptr<const EventSchema>> layouts;
  const auto add = [&](std::shared_ptr<const EventSchema> other) {
    const auto is_known = [&](const auto& one) {
      return are_same(*one, *other, SchemaEquality::layout);
    };
    if (!is_known(first) && std::none_of(layouts.begin(), layouts.end(), is_known))
      layouts.push_back(std::move(other));
  };
  if (auto found = schemas.find(key); found && found != first) add(std::move(found));
  for (auto& other : schemas.find_others(key)) add(std::move(other));
  return layouts;
}

EventDecoder::EventDecoder(core::Borrowed<SchemaSource> schemas)
    : schemas_{schemas.get()}, slots_(1024) {}

// A TraceLogging schema is known by its hash and size: 64 bits, for at most 65,536 kinds.
EventDecoder::Key EventDecoder::key_of(const Event& event, core::ByteView schema_item,
                                       bool string_only) {
  Key key;
  std::memcpy(key.data(), event.provider.bytes.data(), sizeof(u64) * 2);
  const u64 opcode = event.event_class == EventClass::manifest ? 0 : event.opcode;
  key[2] = u64{event.id} | opcode << 16 | u64{event.version} << 24 |
           u64{static_cast<u8>(event.event_class)} << 32 |
           u64{event.kernel_group.value_or(0xff)} << 40 | u64{string_only} << 48;
  key[3] = 0;
  if (event.trace_logging) {
    key[2] = hash_bytes(schema_item);
    key[3] = schema_item.size() + 1;
  }
  return key;
}

const EventKind& EventDecoder::kind_of(const Event& event) {
  core::ByteView item;
  if (event.trace_logging)
    item = find_extended(event, ExtendedType::schema).value_or(core::ByteView{});
  const bool string_only = is_string_event(event);
  auto key = key_of(event, item, string_only);
  const auto& kind = find_kind(event, key, item, string_only, 0);
  if (!kind.varies || !event.pid) return kind;
  const auto variant = schemas_.find_variant(event.provider, *event.pid);
  if (variant == 0) return kind;
  key[3] = u64{variant} << 32;
  return find_kind(event, key, item, string_only, variant);
}

const EventKind& EventDecoder::find_kind(const Event& event, const Key& key, core::ByteView item,
                                         bool string_only, u32 variant) {
  const u64 hash = mix(mix(mix(mix(0, key[0]), key[1]), key[2]), key[3]);
  const auto mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    auto& slot = slots_[at];
    if (slot.kind != 0 && slot.key == key) return kinds_[slot.kind - 1];
    if (slot.kind != 0) continue;
    auto kind = make_kind(event, item, string_only, variant);
    kind.number = static_cast<u32>(kinds_.size());
    kind.kept = kinds_.size() < most_kinds;
    if (!kind.kept) return overflow_ = std::move(kind);
    kinds_.push_back(std::move(kind));
    slot = {key, static_cast<u32>(kinds_.size())};
    if (kinds_.size() * 2 > slots_.size()) grow();
    return kinds_.back();
  }
}

void EventDecoder::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const auto mask = larger.size() - 1;
  for (const auto& slot : slots_) {
    if (slot.kind == 0) continue;
    const auto& key = slot.key;
    std::size_t at = mix(mix(mix(mix(0, key[0]), key[1]), key[2]), key[3]) & mask;
    while (larger[at].kind != 0) at = (at + 1) & mask;
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

EventKind EventDecoder::make_kind(const Event& event, core::ByteView schema_item, bool string_only,
                                  u32 variant) const {
  EventKind kind{event.event_class,
                 event.provider,
                 event.id,
                 event.version,
                 Undecoded::none,
                 {},
                 {},
                 nullptr,
                 {},
                 nullptr,
                 {},
                 {},
                 0,
                 false,
                 false,
                 false};
  switch (event.event_class) {
    case EventClass::classic:
      kind.id = event.opcode;
      describe_classic(event, kind);
      break;
    case EventClass::manifest:
      if (event.trace_logging)
        describe_trace_logging(event, schema_item, kind);
      else
        describe_manifest(event, string_only, variant, kind);
      break;
    case EventClass::driver:
      describe_driver(event, kind);
      break;
    case EventClass::message:
      describe_message(event, kind);
      break;
    case EventClass::error:
      kind.undecoded = Undecoded::header_only;
      break;
  }
  if (kind.schema) {
    kind.fixed32 = fixed_fields(*kind.schema, 4);
    kind.fixed64 = fixed_fields(*kind.schema, 8);
  }
  return kind;
}

void EventDecoder::describe_classic(const Event& event, EventKind& kind) const {
  if (const auto known = find_kernel_event(event)) {
    const bool kernel = event.kernel_group || find_kernel_group(event.provider);
    kind.provider_name = kernel ? kernel_provider : known->class_name;
    kind.name = known->name;
    kind.schema = known->schema;
    if (!known->schema)
      kind.undecoded =
          known->other_versions ? Undecoded::unknown_version : Undecoded::no_public_layout;
    return;
  }
  kind.looked_up = true;
  const SchemaKey key{event.provider, event.opcode, event.version, true};
  if (auto schema = schemas_.find(key)) {
    kind.provider_name = schema->provider_name;
    kind.name = schema->event_name;
    kind.schema = std::move(schema);
    return;
  }
  kind.undecoded = Undecoded::unknown_class;
}

void EventDecoder::describe_manifest(const Event& event, bool string_only, u32 variant,
                                     EventKind& kind) const {
  kind.looked_up = true;
  const SchemaKey key{event.provider, event.id, event.version, false};
  kind.names = schemas_.find_names_of(event.provider, variant);
  kind.provider_name = schemas_.find_provider_name(event.provider);
  if (kind.provider_name.empty())
    kind.provider_name = core::to_valid_utf8(provider_traits_name(event));
  if (kind.provider_name.empty()) kind.provider_name = find_registered_name(event.provider);
  const bool varies = schemas_.has_variants(event.provider);
  auto schema = is_manifest_chunk(event) ? manifest_chunk_schema() : schemas_.find_of(key, variant);
  if (!schema && string_only) schema = string_event_schema();
  if (!schema) {
    kind.varies = varies;  // in its names
    kind.undecoded = Undecoded::no_schema;
    return;
  }
  kind.varies = varies && schema->buffer.has_value();
  if (!schema->provider_name.empty()) kind.provider_name = schema->provider_name;
  kind.name = schema->event_name;
  kind.schema = std::move(schema);
  kind.others = find_layouts(schemas_, key, kind.schema);
}

void EventDecoder::describe_trace_logging(const Event& event, core::ByteView item,
                                          EventKind& kind) const {
  kind.provider_name = core::to_valid_utf8(provider_traits_name(event));
  auto schema = read_trace_logging_schema(item, kind.provider_name, event.buffer_offset);
  if (!schema) {
    kind.undecoded = Undecoded::schema_damaged;
    return;
  }
  make_names_unique(schema->fields);
  kind.name = schema->event_name;
  kind.schema = std::make_shared<const EventSchema>(std::move(*schema));
}

void EventDecoder::describe_driver(const Event& event, EventKind& kind) const {
  kind.looked_up = true;
  kind.schema = schemas_.find({event.provider, event.id, event.version, false});
  if (!kind.schema) {
    kind.undecoded = Undecoded::no_schema;
    return;
  }
  kind.provider_name = kind.schema->provider_name;
  kind.name = kind.schema->event_name;
}

void EventDecoder::describe_message(const Event& event, EventKind& kind) const {
  const SchemaKey key{event.provider, event.id, 0, false, true};
  kind.schema = schemas_.find(key);
  if (!kind.schema) {
    kind.undecoded = Undecoded::message_format;
    return;
  }
  kind.provider_name = kind.schema->provider_name;
  kind.name = kind.schema->event_name;
  kind.others = find_layouts(schemas_, key, kind.schema);
}

DecodeResult EventDecoder::measure_first(const Event& event, const EventKind& kind) {
  return measure_fields(*kind.schema, event.payload, event.pointer_size,
                        event.pointer_size == 8 ? kind.fixed64 : kind.fixed32);
}

const EventSchema* EventDecoder::find_other(const Event& event, const EventKind& kind) {
  for (const auto& other : kind.others)
    if (measure_fields(*other, event.payload, event.pointer_size, {}).decoded == Decoded::exact)
      return other.get();
  return nullptr;
}

const EventSchema* EventDecoder::choose_schema(const Event& event, const EventKind& kind) const {
  if (kind.others.empty() || measure_first(event, kind).decoded == Decoded::exact)
    return kind.schema.get();
  const auto* const other = find_other(event, kind);
  return other != nullptr ? other : kind.schema.get();
}

DecodeResult EventDecoder::decode(const Event& event, const EventKind& kind, FieldVisitor& visitor,
                                  const FixedFields& read) const {
  const auto* const schema = choose_schema(event, kind);
  if (schema == nullptr) return {Decoded::raw, 0};
  return decode_fields(*schema, event.payload, event.pointer_size, visitor, read);
}

DecodeResult EventDecoder::measure(const Event& event, const EventKind& kind) const {
  if (!kind.schema) return {Decoded::raw, 0};
  const auto result = measure_first(event, kind);
  if (result.decoded == Decoded::exact || find_other(event, kind) == nullptr) return result;
  return {Decoded::exact, event.payload.size()};
}

}  // namespace coldtrace::tracefile
