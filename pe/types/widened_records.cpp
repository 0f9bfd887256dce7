#include "pe/types/widened_records.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "coldtrace/pdb/field_list.hpp"
#include "coldtrace/pdb/type_records.hpp"
#include "pe/types/leaf_reader.hpp"
#include "pe/types/record_stream.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 kind_skip = 0x1200;

// How a record or an entry of a field list is made wide: by letters in the order in which the old
// one has its parts. i: index, w: 16 bits, b: 8 bits, d: 32 bits, l: a number, s: a name with its
// length in front, v: 32 bits where attributes say that a function has a new place in the table,
// *: all that is left, as it is.
struct Widening {
  u16 old_kind;
  u16 kind;
  std::string_view parts;
  std::string_view order;  // of the parts in the new one, by number; x: 16 bits of zeros
};

constexpr std::array record_widenings = {
    Widening{0x0001, 0x1001, "wi", "10"},              // LF_MODIFIER
    Widening{0x0003, 0x1003, "ii*", "012"},            // LF_ARRAY
    Widening{0x0004, 0x1004, "wiwii*", "021345"},      // LF_CLASS
    Widening{0x0005, 0x1005, "wiwii*", "021345"},      // LF_STRUCTURE
    Widening{0x0006, 0x1006, "wiw*", "0213"},          // LF_UNION
    Widening{0x0007, 0x1007, "wiiw*", "03124"},        // LF_ENUM
    Widening{0x0008, 0x1008, "ibbwi", "01234"},        // LF_PROCEDURE
    Widening{0x0009, 0x1009, "iiibbwid", "01234567"},  // LF_MFUNCTION
    Widening{0x000a, 0x000a, "*", "0"},                // LF_VTSHAPE
    Widening{0x0206, 0x1205, "bbi", "201"},            // LF_BITFIELD
};

constexpr std::array field_widenings = {
    Widening{0x0400, 0x1400, "iwl", "102"},      // LF_BCLASS
    Widening{0x0401, 0x1401, "iiwll", "20134"},  // LF_VBCLASS
    Widening{0x0402, 0x1402, "iiwll", "20134"},  // LF_IVBCLASS
    Widening{0x0403, 0x0403, "wls", "012"},      // LF_ENUMERATE
    Widening{0x0404, 0x1403, "is", "x01"},       // LF_FRIENDFCN
    Widening{0x0405, 0x1404, "i", "x0"},         // LF_INDEX
    Widening{0x0406, 0x1405, "iwls", "1023"},    // LF_MEMBER
    Widening{0x0407, 0x1406, "iws", "102"},      // LF_STMEMBER
    Widening{0x0408, 0x1407, "wis", "012"},      // LF_METHOD
    Widening{0x0409, 0x1408, "is", "x01"},       // LF_NESTTYPE
    Widening{0x040a, 0x1409, "i", "x0"},         // LF_VFUNCTAB
    Widening{0x040b, 0x140a, "i", "x0"},         // LF_FRIENDCLS
    Widening{0x040c, 0x140b, "wivs", "0123"},    // LF_ONEMETHOD
    Widening{0x040d, 0x140c, "id", "x01"},       // LF_VFUNCOFF
};

// Records of which nothing is shown: LF_COBOL0, LF_BARRAY, LF_LABEL, LF_NULL, LF_NOTTRAN,
// LF_DIMARRAY, LF_VFTPATH, LF_PRECOMP, LF_ENDPRECOMP, LF_OEM, LF_TYPESERVER, LF_SKIP, LF_DEFARG,
// LF_LIST, LF_DERIVED and bounds of arrays.
constexpr std::array<u16, 19> no_types = {0x000b, 0x000d, 0x000e, 0x000f, 0x0010, 0x0011, 0x0012,
                                          0x0013, 0x0014, 0x0015, 0x0016, 0x0200, 0x0202, 0x0203,
                                          0x0205, 0x0208, 0x0209, 0x020a, 0x020b};

const Widening* find_widening(std::span<const Widening> forms, u16 kind) {
  const auto form = std::find_if(forms.begin(), forms.end(),
                                 [&](const Widening& known) { return known.old_kind == kind; });
  return form == forms.end() ? nullptr : &*form;
}

class Widener {
 public:
  explicit Widener(std::vector<std::byte>& out) : out_{out} {}

  void widen(core::ByteView record) {
    const auto start = out_.size();
    if (write(record)) return;
    out_.resize(start);
    put(record);
  }

 private:
  static constexpr std::size_t most_parts = 8;

  void put(core::ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void put_u16(u32 number) {
    for (const unsigned shift : {0U, 8U}) out_.push_back(static_cast<std::byte>(number >> shift));
  }
  void put_u32(u32 number) {
    put_u16(number);
    put_u16(number >> 16);
  }

  bool write(core::ByteView record) {
    constexpr u16 pointer = 0x0002;
    constexpr u16 argument_list = 0x0201;
    constexpr u16 field_list = 0x0204;
    constexpr u16 method_list = 0x0207;
    core::Reader in{record, "type record", 0};
    const auto kind = in.read_u16("leaf");
    switch (kind) {
      case pointer:
        return write_pointer(in);
      case argument_list:
        return write_arguments(in);
      case field_list:
        return write_fields(in, record);
      case method_list:
        return write_methods(in);
      default:
        break;
    }
    if (std::find(no_types.begin(), no_types.end(), kind) != no_types.end()) {
      put_u16(kind_skip);
      return true;
    }
    const auto* const form = find_widening(record_widenings, kind);
    return form && write_parts(*form, in, record);
  }

  // Where each part lies in the record. False: the record ends before.
  bool find_parts(const Widening& form, core::Reader& in, core::ByteView record,
                  std::array<core::ByteView, most_parts>& parts) {
    u16 attributes = 0;
    for (std::size_t i = 0; i < form.parts.size(); ++i) {
      const auto start = in.consumed();
      switch (form.parts[i]) {
        case 'b':
          in.skip(1, "byte");
          break;
        case 'w':
          attributes = in.read_u16("word");
          break;
        case 'd':
          in.skip(4, "double word");
          break;
        case 'l':
          read_number(in);
          break;
        case 's':
          in.skip(in.read_u8("length"), "name");
          break;
        case 'v':
          if (introduces_virtual(attributes)) in.skip(4, "vbaseoff");
          break;
        case '*':
          in.skip(in.remaining(), "rest");
          break;
        default:
          in.skip(2, "index");
          break;
      }
      if (!in.ok()) return false;
      parts[i] = record.subspan(start, in.consumed() - start);
    }
    return true;
  }

  bool write_parts(const Widening& form, core::Reader& in, core::ByteView record) {
    std::array<core::ByteView, most_parts> parts;
    if (!find_parts(form, in, record, parts)) return false;
    put_u16(form.kind);
    for (const char number : form.order) {
      if (number == 'x') {
        put_u16(0);
        continue;
      }
      const auto part = static_cast<std::size_t>(number - '0');
      put(parts[part]);
      if (form.parts[part] == 'i') put_u16(0);  // its upper half
    }
    return true;
  }

  bool write_pointer(core::Reader& in) {
    constexpr u16 kind_pointer = 0x1002;
    const u32 attributes = in.read_u16("attributes");
    const u32 to = in.read_u16("utype");
    if (!in.ok()) return false;
    put_u16(kind_pointer);
    put_u32(to);
    put_u32(attributes);
    return true;
  }

  bool write_arguments(core::Reader& in) {
    constexpr u16 kind_arguments = 0x1201;
    const u32 count = in.read_u16("count");
    if (!in.ok() || count > in.remaining() / sizeof(u16)) return false;
    put_u16(kind_arguments);
    put_u32(count);
    for (u32 i = 0; i < count; ++i) put_u32(in.read_u16("arg"));
    return true;
  }

  bool write_methods(core::Reader& in) {
    constexpr u16 kind_methods = 0x1206;
    constexpr u64 smallest = 4;
    put_u16(kind_methods);
    while (in.ok() && in.remaining() >= smallest) {
      const auto attributes = in.read_u16("attr");
      const auto index = in.read_u16("index");
      put_u32(attributes);  // and what fills it up
      put_u32(index);
      if (introduces_virtual(attributes)) put_u32(in.read_u32("vbaseoff"));
    }
    return in.ok();
  }

  bool write_fields(core::Reader& in, core::ByteView record) {
    constexpr u16 kind_fields = 0x1203;
    put_u16(kind_fields);
    while (in.remaining() >= sizeof(u16)) {
      const auto start = in.consumed();
      if (const auto first = std::to_integer<u8>(record[start]); first >= 0xf0) {  // padding
        in.skip(std::max(1U, first & 0x0fU), "padding");
        if (!in.ok()) break;
        continue;
      }
      const auto written = out_.size();
      const auto* const form = find_widening(field_widenings, in.read_u16("leaf"));
      if (form && write_parts(*form, in, record)) continue;
      out_.resize(written);
      put(record.subspan(start));
      break;
    }
    return true;
  }

  std::vector<std::byte>& out_;
};

}  // namespace

WidenedRecords widen_records(core::ByteView records) {
  WidenedRecords widened;
  Widener widener{widened.bytes};
  while (const auto record = find_record(records, widened.read)) {
    widener.widen(*record);
    widened.ends.push_back(widened.bytes.size());
    widened.read += sizeof(u16) + record->size();
  }
  return widened;
}

}  // namespace coldtrace::pe
