#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "cli/trace/lines/frame_names.hpp"
#include "cli/trace/lines/resolved_names.hpp"
#include "cli/trace/lines/system_call_names.hpp"
#include "cli/trace/lines/trace_control_call.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/privacy/hashed_names.hpp"
#include "coldtrace/privacy/sealed_bytes.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::cli {

// How the first fields of a kind of event become JSON, as far as they are at the same offset in
// each event: what does not depend on the values is made once per kind. Without it decoding takes a
// fifth longer (bench/compare-trace, `trace decode`).
class FixedFieldsText {
 public:
  enum class Form : u8 {
    unsigned_integer,
    signed_integer,
    boolean,
    hexadecimal,
    other,  // as TraceFields::value() writes it
  };
  struct Field {
    const tracefile::FieldSchema* schema;
    u32 key;       // its offset in the keys
    u32 key_size;  // quotes, a colon and, except for the first field, a leading comma
    u32 offset;    // in the payload
    u8 size;
    Form form;
    bool changed;   // an unsigned_integer is passed to shown_number(): ports, signed numbers
    bool resolved;  // its values may stand for names
  };

  // For events of the kind from programs with pointers of `pointer_size` bytes. Empty if fields are
  // few, or all their names are long.
  FixedFieldsText(const tracefile::EventKind& kind, unsigned pointer_size, bool clock_known);

  const std::vector<Field>& fields() const { return fields_; }
  const tracefile::FixedFields& all() const { return all_; }

  // Copies a key to a buffer with room for so many more bytes; returns its end.
  static constexpr std::size_t key_spoils = 16;
  char* write_key(char* at, const Field& field) const {
    const char* const key = keys_.data() + field.key;
    for (std::size_t i = 0; i < field.key_size; i += key_spoils)
      std::memcpy(at + i, key + i, key_spoils);
    return at + field.key_size;
  }

  // The value of a field in a payload that has all of them.
  static tracefile::Value read(const Field& field, core::ByteView payload);

 private:
  std::vector<Field> fields_;
  std::string keys_;  // concatenated, followed by key_spoils characters
  tracefile::FixedFields all_;
};

// The hash of a text in a trace; for a path, the hash of each name in it.
std::string hashed_text(const privacy::HashedNames& names, std::string_view text);

// Writes the fields of an event as members of a JSON object, and separately what their values stand
// for: names of files, registry keys, images and mapped values.
class TraceFields final : public tracefile::FieldVisitor {
 public:
  // `calls` and `frames` may be null: then calls or functions are not named.
  TraceFields(const tracefile::Clock& clock, const tracefile::NameTables& names,
              const SystemCallNames* calls, FrameNames* frames, Int64 int64)
      : names_{names},
        calls_{calls},
        frames_{frames},
        int64_{int64},
        clock_known_{clock.known()},
        texts_{clock} {}

  // With `names`, texts in the payload are hashed, and other names are left out; with `key`,
  // encrypted fields are decrypted. Each may be null; they have to outlive this object.
  void protect(const privacy::HashedNames* names, const privacy::SealingKey* key) {
    hashed_ = names;
    key_ = key;
  }
  // The number of encrypted fields that the key does not decrypt.
  u64 still_sealed() const { return still_sealed_; }

  // Starts a new event: members go to `json`. `time` is that of the event, for looking up names.
  void start(core::TextBuffer& json, const tracefile::Event& event,
             const tracefile::EventKind& kind, i64 time);
  // Appends the first fields, as far as `text` has them; returns which need no further decoding.
  tracefile::FixedFields append_fixed(const FixedFieldsText& text, core::ByteView payload);
  // Whether fields were left out: names may be written for each of many elements, and the size of
  // the event bounds how many.
  bool cut() const { return cut_; }
  // The names of the values so far; those of the stack are added to them.
  ResolvedNames& resolved() { return resolved_; }
  // What the event logged of a call of NtTraceControl; null if it is not one.
  const tracefile::LoggedControlCall* control_call() const { return control_call_.call(); }
  // The bytes of an ETW event contained in a field; empty if there is none.
  core::ByteView etw_event() const { return etw_event_; }

  bool has_room(const tracefile::FieldSchema& field) override;
  void value(const tracefile::FieldSchema& field, const tracefile::Value& value) override;
  void begin_array(const tracefile::FieldSchema& field) override;
  void end_array() override;
  void begin_structure(const tracefile::FieldSchema& field) override;
  void end_structure() override;

 private:
  void key(std::string_view name);
  void key(const tracefile::FieldSchema& field);
  void text(const tracefile::FieldSchema& field, const tracefile::Value& value, bool utf16);
  void encrypted(const tracefile::FieldSchema& field, const tracefile::Value& value);
  void other_text(const tracefile::Value& value);
  void resolve(const tracefile::FieldSchema& field, const tracefile::Value& value);
  std::string_view find_call_name(const tracefile::Value& value);
  bool resolve_function(const tracefile::FieldSchema& field, const tracefile::Value& value);
  bool resolve_place(const tracefile::FieldSchema& field, const tracefile::Value& value);
  bool in_array() const { return (arrays_ & 1U) != 0; }

  const tracefile::NameTables& names_;
  const SystemCallNames* calls_;
  FrameNames* frames_;
  Int64 int64_;
  bool clock_known_;
  tracefile::ValueText texts_;
  const privacy::HashedNames* hashed_ = nullptr;
  const privacy::SealingKey* key_ = nullptr;
  u64 still_sealed_ = 0;
  core::TextBuffer* json_ = nullptr;
  ResolvedNames resolved_;
  core::ByteView etw_event_;
  ControlCallFields control_call_;
  std::optional<u32> pid_;
  i64 time_ = 0;
  std::string name_;  // of a value
  std::size_t name_bytes_ = 0;
  std::size_t name_room_ = 0;
  bool cut_ = false;
  u64 arrays_ = 0;  // one bit per level, the innermost lowest: whether it is an array
  bool first_ = true;
};

}  // namespace coldtrace::cli
