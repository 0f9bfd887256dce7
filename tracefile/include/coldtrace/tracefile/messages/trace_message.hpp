#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::tracefile {

// How an argument of a WPP message is shown if its format does not say. Source: the item types of
// TMF files, and their texts by tracefmt as public tests show them.
enum class MessageItem : u8 {
  plain,         // like other values of its type
  number,        // by the conversion, else decimal
  floating,      // six significant digits
  pointer,       // all digits, upper case
  blanked_text,  // with blanks instead of control characters
  status,        // 0xc0000022(STATUS_ACCESS_DENIED)
  error,         // 2(ERROR_FILE_NOT_FOUND)
  ndis_status,   // 0x4001000b(NDIS_STATUS_MEDIA_CONNECT)
  ndis_oid,      // 0x0001010e(OID_GEN_CURRENT_PACKET_FILTER)
  duration,      // 5.000s, of 100 ns
  mac,           // 00-15-5d-01-02-03
  list,          // 0x00000002(name)
  set,           // [name,name]
  enumeration,   // name
  flags,         // name | name(0x5)
};

// What a format of WPP messages has besides the fields of its arguments and the text.
struct TraceMessage {
  struct Argument {
    u16 number;  // by which the text refers to it, from 10 on
    MessageItem item;
  };
  std::string component;    // the module that logged it
  std::string source_file;  // of code
  std::string tag;          // of file and line: "driver_c120"
  std::string function, level, flags;
  std::vector<Argument> arguments;  // of the fields, in their order
};

// One conversion of printf: flags, width, precision, length, type. Lengths do not matter, since the
// argument has its own.
struct Conversion {
  bool left = false, zeros = false, sign = false, blank = false, prefix = false;
  unsigned width = 0;
  int precision = -1;
  unsigned bits = 64;  // by h and hh, which keep the low ones
  char type = 's';

  // From what stands between `!` and `!`, like `08x` or `-20S`; anything else is taken as `s`.
  [[nodiscard]] static Conversion parse(std::string_view text);
};

// An argument as its item and a conversion say: valid UTF-8.
std::string format_argument(const FieldSchema& field, const Value& value, MessageItem item,
                            const Conversion& conversion, ValueText& texts);

}  // namespace coldtrace::tracefile
