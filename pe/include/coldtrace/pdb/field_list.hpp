#pragma once

#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// One entry of an LF_FIELDLIST. Source: microsoft-pdb, cvinfo.h, lfMember and those around it.
struct Field {
  enum class Kind : u8 {
    member,
    enumerator,     // `value` is its number, sign-extended as it is stored
    base,           // its members lie at `value`
    virtual_base,   // `value` is the place of the pointer to the table that gives its place
    static_member,  // takes no place
    method,         // one function; introduces_virtual(): `value` is its place in the table
    overloads,      // several with one name, an LF_METHODLIST
    nested,         // a type
    virtual_table,  // a pointer to the table of virtual functions, at 0
    friend_,
    continued,  // the list continues in the record `type`
  };
  Kind kind = Kind::member;
  u16 attributes = 0;
  u32 type = 0;
  u64 value = 0;  // offset, or number
  std::string_view name;
};

// The access in the low bits of Field::attributes: "private", "protected", "public", or nothing if
// the language has no access.
[[nodiscard]] std::string_view access_of(const Field& field);

// Whether a function with these attributes has a new place in the virtual table, which is stored
// after them. Source: microsoft-pdb, cvinfo.h, CV_methodprop_e.
[[nodiscard]] bool introduces_virtual(u16 attributes);

// "plain", "virtual", "static", "friend", "introducing_virtual", "pure_virtual",
// "pure_introducing_virtual", or "unknown".
[[nodiscard]] std::string_view method_kind_of(u16 attributes);

// Reads the entries of a field list one after another.
class FieldList {
 public:
  explicit FieldList(core::BorrowedBytes record);

  // False at the end, and if an entry cannot be read.
  bool next(Field& field);

  // False: the rest of the list is lost; `kind` is what could not be read.
  [[nodiscard]] bool ok() const { return in_.ok(); }
  [[nodiscard]] u16 kind() const { return kind_; }

 private:
  void skip_padding();
  void read_entry(Field& field);

  core::ByteView record_;
  core::Reader in_;
  u16 kind_ = 0;
};

}  // namespace coldtrace::pe
