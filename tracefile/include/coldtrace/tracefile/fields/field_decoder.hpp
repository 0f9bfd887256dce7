#pragma once

#include "coldtrace/tracefile/fields/field_value.hpp"

namespace coldtrace::tracefile {

// Receives the fields of one event in order. A view is valid during the call.
class FieldVisitor {
 public:
  FieldVisitor() = default;
  FieldVisitor(const FieldVisitor&) = delete;
  FieldVisitor& operator=(const FieldVisitor&) = delete;
  virtual ~FieldVisitor() = default;

  // Whether it takes the field that comes next, with its name; otherwise decoding ends before it,
  // as it does where the payload ends.
  virtual bool has_room(const FieldSchema&) { return true; }
  virtual void value(const FieldSchema& field, const Value& value) = 0;
  // Elements of an array come between these two, each as a value or structure of the same field. An
  // array of characters is one text instead.
  virtual void begin_array(const FieldSchema& field) = 0;
  virtual void end_array() = 0;
  virtual void begin_structure(const FieldSchema& field) = 0;
  virtual void end_structure() = 0;
};

// How much of a payload its schema explains.
enum class Decoded : u8 {
  exact,     // every byte
  trailing,  // all fields, and bytes are left over
  partial,   // the payload ends inside a field
  raw,       // nothing: there is no schema
};

[[nodiscard]] std::string_view to_string(Decoded decoded);

// How far a payload was decoded.
struct DecodeResult {
  Decoded decoded;
  std::size_t consumed;  // bytes of the payload
};

// Bytes of a field that always has this size, and is not an array; 0 for others.
[[nodiscard]] std::size_t fixed_size(const FieldSchema& field, unsigned pointer_size);

// The first fields of a schema whose sizes do not depend on the payload.
struct FixedFields {
  std::size_t count = 0;
  std::size_t size = 0;  // bytes
};
[[nodiscard]] FixedFields fixed_fields(const EventSchema& schema, unsigned pointer_size);

// Reads the fields of a payload, except the first ones that the visitor has already `read`, which
// lie in it. Work is bounded whatever counts the payload has.
DecodeResult decode_fields(const EventSchema& schema, core::ByteView payload, unsigned pointer_size,
                           FieldVisitor& visitor, const FixedFields& read = {});

// Like decode_fields, without a visitor. `fixed` is that of the schema and pointer size.
[[nodiscard]] DecodeResult measure_fields(const EventSchema& schema, core::ByteView payload,
                                          unsigned pointer_size, const FixedFields& fixed);

}  // namespace coldtrace::tracefile
