#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// Records of types as CodeView has them in PDBs, each from its kind on.
// Sources: microsoft-pdb, cvinfo.h; LLVM, "CodeView Type Records"; for the records with 32-bit
// properties, which Visual Studio writes since 2019 16.8, five readers of them and real files that
// were rewritten to them.

enum class AggregateKind : u8 { structure, interface_, union_ };  // a class is a structure

// LF_CLASS, LF_STRUCTURE, LF_INTERFACE and LF_UNION, in their forms with names that have a length
// byte (_ST), with names that end with NUL, and with 32-bit properties (_2).
struct Aggregate {
  AggregateKind kind;
  bool forward;  // declared here, defined by another record
  u32 fields;    // index of its LF_FIELDLIST
  u64 members;
  u64 size;
  std::string_view name;
  std::string_view unique_name;  // mangled; empty where the compiler gave none
};

// Nothing: of another kind, or damaged.
std::optional<Aggregate> read_aggregate(core::ByteView record);

// Whether a record may define something with members, but read_aggregate cannot tell what: one of a
// kind that is not known, or a damaged one. LF_UNION2 is one of them: no file with it was seen, and
// its descriptions disagree.
bool is_unread_aggregate(core::ByteView record);

// The kind of a record; 0 for one without.
u16 kind_of(core::ByteView record);

// The type that LF_MODIFIER makes const, volatile or unaligned.
std::optional<u32> read_modified_type(core::ByteView record);

// One entry of an LF_FIELDLIST.
struct Field {
  enum class Kind : u8 {
    member,
    base,       // its members lie at `offset`
    continued,  // the list goes on in the record `type`
    other,      // takes no place that the record tells: functions, statics, virtual bases
  };
  Kind kind = Kind::other;
  u32 type = 0;
  u64 offset = 0;
  std::string_view name;
};

// Reads the entries of a field list one after another.
class FieldList {
 public:
  explicit FieldList(core::ByteView record);

  // False at the end, and where an entry cannot be read.
  bool next(Field& field);

  // False: the rest of the list is lost, `kind` being what could not be read.
  bool ok() const { return in_.ok(); }
  u16 kind() const { return kind_; }

 private:
  void skip_padding();

  core::ByteView record_;
  core::Reader in_;
  u16 kind_ = 0;
};

}  // namespace coldtrace::pe
