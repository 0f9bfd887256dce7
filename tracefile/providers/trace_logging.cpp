#include "tracefile/providers/trace_logging.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"

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

// TlgOut values are those of TDH from 35 on only. FILETIME, SIGNED and UNSIGNED (16 to 18) change
// the type instead.
OutType to_out_type(u8 out, InType in) {
  constexpr u8 hex = 4;
  constexpr OutType known[] = {
      OutType::none,    OutType::none,           OutType::string,
      OutType::boolean, OutType::none,           OutType::pid,
      OutType::tid,     OutType::port,           OutType::ipv4,
      OutType::ipv6,    OutType::socket_address, OutType::xml,
      OutType::json,    OutType::win32_error,    OutType::nt_status,
      OutType::hresult,
  };
  if (out == hex) {
    switch (in) {
      case InType::i8:
      case InType::u8:
        return OutType::hex8;
      case InType::i16:
      case InType::u16:
        return OutType::hex16;
      case InType::i32:
      case InType::u32:
        return OutType::hex32;
      case InType::i64:
      case InType::u64:
        return OutType::hex64;
      default:
        return OutType::none;
    }
  }
  if (out < std::size(known)) return known[out];
  switch (static_cast<OutType>(out)) {
    case OutType::utf8:
    case OutType::code_pointer:
    case OutType::date_time_utc:
      return static_cast<OutType>(out);
    default:
      return OutType::none;
  }
}

InType with_sign(InType in, u8 out) {
  constexpr u8 file_time = 16;
  constexpr u8 as_signed = 17;
  constexpr u8 as_unsigned = 18;
  const bool is_32 = in == InType::i32 || in == InType::u32 || in == InType::hex32;
  const bool is_64 = in == InType::i64 || in == InType::u64 || in == InType::hex64;
  if (out == file_time && is_64) return InType::file_time;
  if (out == as_signed && is_32) return InType::i32;
  if (out == as_signed && is_64) return InType::i64;
  if (out == as_unsigned && is_32) return InType::u32;
  if (out == as_unsigned && is_64) return InType::u64;
  return in;
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
    if ((in & custom) == custom) return serialized(std::move(field));
    if (type > last_type) in_.reject(Fault::bad_value, type_at, "InType", last_type, type);
    count(field, in);
    field.in = to_in_type(type);
    if (type == structure) {
      members(field, out, depth);
    } else {
      field.out = to_out_type(out, field.in);
      field.in = with_sign(field.in, out);
    }
    return field;
  }

  // The type is the number of a protocol that only the producer knows; what it made is counted.
  FieldSchema serialized(FieldSchema field) {
    in_.skip(in_.read_u16("TypeInfoSize"), "TypeInfo");
    field.in = InType::counted_binary;
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
