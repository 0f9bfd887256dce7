#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// How a field is stored. Values below 1000 are those of TDH and of TraceLogging.
// Source: Windows SDK tdh.h, _TDH_IN_TYPE; TraceLoggingProvider.h, TlgIn_t.
enum class InType : u16 {
  null = 0,
  utf16 = 1,  // up to a NUL, or a given number of units
  ansi = 2,   // likewise, in bytes
  i8 = 3,
  u8 = 4,
  i16 = 5,
  u16 = 6,
  i32 = 7,
  u32 = 8,
  i64 = 9,
  u64 = 10,
  f32 = 11,
  f64 = 12,
  bool32 = 13,
  binary = 14,  // a given number of bytes
  guid = 15,
  pointer = 16,
  file_time = 17,
  system_time = 18,
  sid = 19,
  hex32 = 20,
  hex64 = 21,
  counted_utf16 = 22,  // u16 count of bytes before it
  counted_ansi = 23,
  structure = 24,
  counted_binary = 25,
  tdh_counted_utf16 = 300,
  tdh_counted_ansi = 301,
  reversed_counted_utf16 = 302,  // the count is big-endian
  reversed_counted_ansi = 303,
  unterminated_utf16 = 304,  // the rest of the payload
  unterminated_ansi = 305,
  utf16_char = 306,
  ansi_char = 307,
  size = 308,  // pointer-sized
  hex_dump = 309,
  kernel_sid = 310,  // 4 zero bytes, or two pointers and a SID

  session_time = 1000,  // i64 in the clock of the session
  text = 1001,          // to the end: UTF-16 if it ends in two zero bytes, else ANSI
  bool8 = 1002,
  lznt1_utf16 = 1003,  // compressed text to the end; its size is the field before it
};

// How a value is meant to be shown. Values below 1000 are those of TDH.
enum class OutType : u16 {
  none = 0,
  string = 1,
  date_time = 2,
  hex_binary = 15,
  hex8 = 16,
  hex16 = 17,
  hex32 = 18,
  hex64 = 19,
  boolean = 13,
  pid = 20,
  tid = 21,
  port = 22,  // u16 in network order
  ipv4 = 23,
  ipv6 = 24,
  socket_address = 25,
  xml = 28,
  error_code = 29,
  win32_error = 30,
  nt_status = 31,
  hresult = 32,
  json = 34,
  utf8 = 35,
  code_pointer = 37,
  date_time_utc = 38,

  file_key = 1000,  // address of a file object or of its control block
  registry_key = 1001,
  stack_key = 1002,
  system_call = 1003,    // service number
  name_hash = 1004,      // of a service's name
  etw_event = 1005,      // an event as ETW has it in its buffers
  encrypted = 1006,      // never shown
  call_argument = 1007,  // of the service that the event names
  own_process = 1008,    // the process of the event, should its header not say
  own_thread = 1009,
  stack_frame = 1010,  // return address
  exit_status = 1011,  // NTSTATUS of a process, or a number of its own
};

// Bytes per unit of text: 2 for UTF-16 and 1 for the rest; 0 if it is not text. For InType::text,
// only the payload tells.
[[nodiscard]] unsigned text_unit(InType in, OutType out);

// Whether one value is one unit of text, so that several of them form a text.
[[nodiscard]] bool is_character(InType in, OutType out);

// Names of a field's values, or of its bits.
struct ValueMap {
  struct Entry {
    u64 value;
    std::string text;
    u64 mask = 0;  // for bits: those that are compared; 0 means those of the value
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::string name;
  bool bits = false;
  std::vector<Entry> entries;  // by value
  void sort();                 // entries of one value stay in their order
  friend bool operator==(const ValueMap&, const ValueMap&) = default;
};

// One field of an event. Fields that give the length or count of later ones have a slot, in which
// the decoder keeps their value.
struct FieldSchema {
  enum class Rule : u8 {
    none,
    fixed,     // `number`
    slot,      // the value of the field with slot `number`
    prefixed,  // u16 before the elements
    rest,      // as many as the payload has
  };
  struct Amount {
    Rule rule = Rule::none;
    u16 number = 0;
  };

  std::string name;
  InType in = InType::null;
  OutType out = OutType::none;
  Amount length;            // of strings in units, of binaries in bytes
  Amount count;             // of elements; `none` is one value that is not an array
  u16 slot = 0;             // 0: no other field refers to this one
  bool optional = false;    // absent if the payload ends before it
  bool padding = false;     // bytes without meaning
  bool plain_name = false;  // letters, digits and the like, as make_names_unique() found
  std::shared_ptr<const ValueMap> map;
  std::vector<FieldSchema> members;  // of a structure
};

struct TraceMessage;

// What one kind of event contains.
struct EventSchema {
  static constexpr u16 largest_slot = 1023;

  std::string provider_name;
  std::string event_name;      // task and opcode, or the producer's own name
  std::string message;         // may be empty
  std::string source;          // the file that it comes from; empty: the trace, or built in
  std::string source_version;  // of that file; empty: it has none
  std::optional<u64> buffer;   // of the trace, which contains the schema, by its offset in the file
  // Of the event that it describes, if it is for one version alone. A source may answer with the
  // schema of an earlier version.
  std::optional<u8> version;
  std::shared_ptr<const TraceMessage> trace_message;  // of a WPP message; else null
  u16 slots = 0;                                      // the greatest slot in use
  bool encrypted = false;  // no byte of the payload is shown except by its fields
  std::vector<FieldSchema> fields;
};

// Gives fields of equal name on the same level different names: "Name", "Name_2". Without it, a
// reader that keeps fields by name would lose all but one. Fields without a name become "_". The
// names of the exact bytes of a text, "Name_utf16" and "Name_bytes", count as taken as well.
void make_names_unique(std::vector<FieldSchema>& fields);

// Deepest nesting of structures that is followed.
constexpr unsigned deepest_structure = 16;
// Most fields of one event, members included.
constexpr std::size_t most_fields = 4096;

}  // namespace coldtrace::tracefile
