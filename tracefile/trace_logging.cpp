#include "tracefile/trace_logging.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;
using Rule = FieldSchema::Rule;

constexpr u8 type_mask = 0x1f;
constexpr u8 constant_count = 0x20;
constexpr u8 variable_count = 0x40;
constexpr u8 custom = 0x60;
constexpr u8 chain = 0x80;
constexpr u8 structure = 24;
constexpr u8 last_type = 27;

InType to_in_type(u8 type) {
  switch (type) {
    case 14:  // binary has its length before it
    case 26:  // counted text in encodings without a name here
    case 27:
      return InType::counted_binary;
    case 22:
      return InType::counted_utf16;
    case 23:
      return InType::counted_ansi;
    case structure:
      return InType::structure;
    default:
      return static_cast<InType>(type);
  }
}

class SchemaReader {
 public:
  SchemaReader(core::ByteView bytes, u64 offset) : in_{bytes, "TraceLogging schema", offset} {}

  core::Result<EventSchema> read(std::string_view provider_name) {
    EventSchema schema;
    schema.provider_name = provider_name;
    const auto size = in_.read_u16("Size");
    if (in_.ok() && size > in_.remaining() + 2)
      in_.reject(Fault::truncated, in_.offset(), "Size", size, in_.remaining() + 2);
    skip_tags();
    schema.event_name = name();
    while (in_.ok() && in_.remaining() > 0) schema.fields.push_back(field(0));
    return in_.finish(std::move(schema));
  }

 private:
  std::string name() {
    const auto rest = in_.remaining();
    auto text = peek_text();
    if (!text) {
      in_.take(rest + 1, "Name");  // the failure: no NUL before the end
      return {};
    }
    in_.skip(text->size() + 1, "Name");
    return core::to_valid_utf8(*text);
  }

  std::optional<std::string_view> peek_text() const {
    auto copy = in_;
    const auto rest = copy.take(copy.remaining(), "Name");
    return core::read_c_string(rest, rest.size());
  }

  void skip_tags() {
    while (in_.ok() && (in_.read_u8("Tags") & chain) != 0) {
    }
  }

  FieldSchema field(unsigned depth) {
    FieldSchema field;
    const auto at = in_.offset();
    if (++fields_ > most_fields) in_.reject(Fault::limit, at, "fields", most_fields, fields_);
    field.name = name();
    const auto type_at = in_.offset();
    const auto in = in_.read_u8("InType");
    u8 out = 0;
    if ((in & chain) != 0) {
      out = in_.read_u8("OutType");
      if ((out & chain) != 0) skip_tags();
      out &= static_cast<u8>(~chain);
    }
    const u8 type = in & type_mask;
    if (type > last_type) in_.reject(Fault::bad_value, type_at, "InType", last_type, type);
    count(field, in);
    field.in = to_in_type(type);
    if (type == structure) {
      members(field, out, depth);
    } else {
      field.out = static_cast<OutType>(out);
    }
    return field;
  }

  void count(FieldSchema& field, u8 in) {
    switch (in & custom) {
      case constant_count:
        field.count = {Rule::fixed, in_.read_u16("Count")};
        break;
      case variable_count:
        field.count = {Rule::prefixed, 0};
        break;
      case custom: {
        const auto at = in_.offset();
        in_.skip(in_.read_u16("TypeInfoSize"), "TypeInfo");
        in_.reject(Fault::unsupported, at, "InType", 0, custom);
        break;
      }
      default:
        break;
    }
  }

  void members(FieldSchema& field, u8 number, unsigned depth) {
    if (depth >= deepest_structure)
      in_.reject(Fault::limit, in_.offset(), "structure", deepest_structure, depth);
    for (u8 i = 0; i < number && in_.ok(); ++i) field.members.push_back(this->field(depth + 1));
  }

  core::Reader in_;
  std::size_t fields_ = 0;
};

}  // namespace

core::Result<EventSchema> read_trace_logging_schema(core::ByteView item,
                                                    std::string_view provider_name, u64 offset) {
  const auto size = core::load<u16>(item, 0);
  const auto bytes = size && *size <= item.size() ? item.first(std::max<u16>(*size, 2)) : item;
  return SchemaReader{bytes, offset}.read(provider_name);
}

}  // namespace coldtrace::tracefile
