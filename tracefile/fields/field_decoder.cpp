#include "coldtrace/tracefile/fields/field_decoder.hpp"

#include <limits>

#include "tracefile/fields/value_reader.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteView;
using Rule = FieldSchema::Rule;

// Elements of nothing could be counted for ever.
constexpr u64 most_empty_elements = 4096;

class Measure final : public FieldVisitor {
 public:
  void value(const FieldSchema&, const Value&) override {}
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}
};

template <class Visitor>
class FieldDecoder {
 public:
  FieldDecoder(const EventSchema& schema, ByteView payload, unsigned pointer_size, Visitor& visitor)
      : reader_{schema, payload, pointer_size}, visitor_{visitor} {}

  bool fields(std::span<const FieldSchema> fields, unsigned depth) {
    for (const auto& field : fields)
      if (!decode(field, depth)) return false;
    return true;
  }

  std::size_t consumed() const { return reader_.consumed(); }
  void skip(std::size_t size) { reader_.skip(size); }

 private:
  bool decode(const FieldSchema& field, unsigned depth) {
    if (field.optional && reader_.left() == 0) return true;
    if (field.count.rule == Rule::none) return element(field, depth, true);
    const auto start = reader_.consumed();
    u64 count = std::numeric_limits<u64>::max();
    if (field.count.rule != Rule::rest && !reader_.amount(field.count, count)) return false;
    if (!takes(field, start)) return false;
    if (is_character(field.in, field.out)) return characters(field, count);
    visitor_.begin_array(field);
    const bool complete = elements(field, depth, count);
    visitor_.end_array();
    return complete;
  }

  bool characters(const FieldSchema& field, u64 count) {
    Value value;
    const auto read = reader_.read_characters(field, count, value);
    if (!field.padding && (read > 0 || count == 0)) visitor_.value(field, value);
    return field.count.rule == Rule::rest ? reader_.left() == 0 : read == count;
  }

  bool elements(const FieldSchema& field, unsigned depth, u64 count) {
    const bool to_the_end = field.count.rule == Rule::rest;
    for (u64 i = 0; i < count; ++i) {
      if (to_the_end && reader_.left() == 0) return true;
      const auto before = reader_.consumed();
      if (!element(field, depth, false)) return false;
      if (reader_.consumed() == before && ++empty_elements_ > most_empty_elements) return false;
    }
    return true;
  }

  // What is `named` comes with the name of its field, elements of an array without.
  bool element(const FieldSchema& field, unsigned depth, bool named) {
    const auto start = reader_.consumed();
    if (field.in == InType::structure) {
      if (depth >= deepest_structure || (named && !takes(field, start))) return false;
      visitor_.begin_structure(field);
      const bool complete = fields(field.members, depth + 1);
      visitor_.end_structure();
      return complete;
    }
    Value value;
    if (!reader_.read(field, value) || (named && !takes(field, start))) return false;
    if (field.slot != 0) reader_.set_slot(field.slot, value.number);
    if (!field.padding) visitor_.value(field, value);
    return true;
  }

  // Whether the visitor takes the field that starts at `start`, which is not consumed otherwise.
  bool takes(const FieldSchema& field, std::size_t start) {
    if (field.padding || visitor_.has_room(field)) return true;
    reader_.rewind(start);
    return false;
  }

  ValueReader reader_;
  Visitor& visitor_;
  u64 empty_elements_ = 0;
};

template <class Visitor>
DecodeResult run(const EventSchema& schema, ByteView payload, unsigned pointer_size,
                 Visitor& visitor, const FixedFields& skipped = {}) {
  FieldDecoder<Visitor> decoder{schema, payload, pointer_size, visitor};
  decoder.skip(skipped.size);
  const bool complete = decoder.fields(std::span{schema.fields}.subspan(skipped.count), 0);
  const auto consumed = decoder.consumed();
  if (!complete) return {Decoded::partial, consumed};
  return {consumed == payload.size() ? Decoded::exact : Decoded::trailing, consumed};
}

// Bytes of a field of a type that always has as many; 0 of others.
std::size_t fixed_size_of(InType type, unsigned pointer_size) {
  switch (type) {
    case InType::i8:
    case InType::u8:
    case InType::bool8:
    case InType::ansi_char:
      return 1;
    case InType::i16:
    case InType::u16:
    case InType::utf16_char:
      return 2;
    case InType::i32:
    case InType::u32:
    case InType::f32:
    case InType::bool32:
    case InType::hex32:
      return 4;
    case InType::i64:
    case InType::u64:
    case InType::f64:
    case InType::hex64:
    case InType::file_time:
    case InType::session_time:
      return 8;
    case InType::guid:
    case InType::system_time:
      return 16;
    case InType::pointer:
    case InType::size:
      return pointer_size;
    default:
      return 0;
  }
}

}  // namespace

std::size_t fixed_size(const FieldSchema& field, unsigned pointer_size) {
  const bool plain = field.count.rule == Rule::none && !field.optional && !field.padding;
  return plain ? fixed_size_of(field.in, pointer_size) : 0;
}

FixedFields fixed_fields(const EventSchema& schema, unsigned pointer_size) {
  FixedFields fixed;
  for (const auto& field : schema.fields) {
    const auto size = fixed_size(field, pointer_size);
    if (size == 0 || field.slot != 0) break;
    fixed.size += size;
    ++fixed.count;
  }
  return fixed;
}

std::string_view to_string(Decoded decoded) {
  switch (decoded) {
    case Decoded::exact:
      return "exact";
    case Decoded::trailing:
      return "trailing";
    case Decoded::partial:
      return "partial";
    case Decoded::raw:
      return "raw";
  }
  return "raw";
}

DecodeResult decode_fields(const EventSchema& schema, ByteView payload, unsigned pointer_size,
                           FieldVisitor& visitor, const FixedFields& read) {
  return run(schema, payload, pointer_size, visitor, read);
}

DecodeResult measure_fields(const EventSchema& schema, ByteView payload, unsigned pointer_size,
                            const FixedFields& fixed) {
  const bool has_fixed = payload.size() >= fixed.size;
  if (has_fixed && fixed.count == schema.fields.size())
    return {payload.size() == fixed.size ? Decoded::exact : Decoded::trailing, fixed.size};
  Measure visitor;
  return run(schema, payload, pointer_size, visitor, has_fixed ? fixed : FixedFields{});
}

}  // namespace coldtrace::tracefile
