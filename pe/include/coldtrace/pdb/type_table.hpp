#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/pdb/field_list.hpp"
#include "coldtrace/pdb/pdb.hpp"
#include "coldtrace/pdb/type_records.hpp"

namespace coldtrace::pe {

// All type records of a PDB (its TPI stream, number 2), by index and by name. Each is looked at
// once, and decoded where it is asked for. Those of Visual C++ 4, whose indexes have 16 bits, are
// read as what has their place since. A view: the file outlives it.
// Source: LLVM, "The PDB TPI and IPI Streams"; microsoft-pdb, cvinfo.h and tpi.h.
class TypeTable {
 public:
  enum class Family : u8 { structure, union_, enumeration };  // classes are structures

  // What defines a type, and not a declaration of one.
  struct Definition {
    std::string_view name;
    u32 index;
    Family family;
  };

  // Fails when there is no TPI stream or its header cannot be used. A record that cannot be read
  // ends the list with the finding `pdb-types`.
  static core::Result<TypeTable> read(const Pdb& pdb, core::Findings& findings);

  // The types of `records`, as in a TPI stream behind its header, the
  // first with the index 0x1000.
  [[nodiscard]] static TypeTable of(core::BorrowedBytes records, u8 pointer_size,
                                    core::Findings& findings);

  [[nodiscard]] u32 version() const { return version_; }  // 0 of records without a stream
  [[nodiscard]] u32 first_index() const { return first_index_; }
  [[nodiscard]] u64 count() const { return records_.size(); }
  [[nodiscard]] u64 size() const { return stream_.view().size(); }  // of the stream, in bytes
  // Of the program, in bytes; 0 where nothing in the file tells.
  [[nodiscard]] u8 pointer_size() const { return pointer_size_; }

  // From the kind on; null where there is none.
  [[nodiscard]] const core::ByteView* find_record(u32 index) const;

  // By name, then index.
  [[nodiscard]] const std::vector<Definition>& definitions() const { return by_name_; }
  // Declarations that nothing defines, one of each name that is `wanted`, by name.
  [[nodiscard]] std::vector<Definition> undefined(
      const std::function<bool(std::string_view)>& wanted) const;

  // The definition of a structure, union or enumeration; that of the declaration that `index` may
  // be. By the unique name where both have one, since C and C++ may define two types of one name in
  // one PDB; a declaration without one is of the first definition without one, of its kind and
  // name. `pdb-type-ambiguous` where there are several that differ.
  [[nodiscard]] std::optional<u32> find_definition(u32 index, core::Findings& findings) const;

  // The first structure or union, or the first enumeration, that has the name.
  [[nodiscard]] std::optional<u32> find_structure(std::string_view name,
                                                  core::Findings& findings) const;
  [[nodiscard]] std::optional<u32> find_enumeration(std::string_view name,
                                                    core::Findings& findings) const;

  // The type behind LF_MODIFIER records.
  [[nodiscard]] u32 unmodified(u32 index) const;

  // Notes that `name` may be one of the records that cannot be read, if there are any.
  void report_unread(std::string_view name, core::Findings& findings) const;

  // Notes that there are such records: of lists of all types.
  void report_unread(core::Findings& findings) const;

 private:
  using Definitions = std::vector<Definition>;

  // `at` is where they are in the stream of `pdb`, if that is where they are.
  void read_records(core::ByteView records, u64 at, const Pdb* pdb, core::Findings& findings);
  void read_narrow_records(core::ByteView records, u64 at, const Pdb& pdb,
                           core::Findings& findings);
  void add_record(core::ByteView record);
  void report_lost(const Pdb* pdb, u64 position, core::Findings& findings) const;
  void sort_names();
  void add_definition(u32 index);
  void find_pointer_size(const Pdb& pdb);
  static std::span<const Definition> namesakes(const Definitions& definitions,
                                               std::string_view name);
  std::optional<u32> choose(std::span<const Definition> namesakes, core::Findings& findings,
                            bool (*fits)(const Definition&) = nullptr) const;

  StreamBytes stream_;
  u32 version_ = 0;
  u32 first_index_ = 0;
  u8 pointer_size_ = 0;
  std::vector<core::ByteView> records_;  // by index
  Definitions by_name_;
  Definitions by_unique_name_;  // those that have one
  Definitions plain_;           // those without, by family before index
  Definitions declarations_;    // by index
  std::vector<u32> unread_;     // indexes of records that may define something, and cannot be read
};

// What a record that defines something says, whichever kind it is of.
struct TypeHead {
  TypeTable::Family family;
  u32 properties;
  u32 fields;
  std::string_view name;
  std::string_view unique_name;
};
[[nodiscard]] std::optional<TypeHead> read_type_head(core::ByteView record);

// Goes through a field list, and those it goes on in, which have lower indexes.
class FieldWalk {
 public:
  FieldWalk(core::Borrowed<TypeTable> table, u32 list) : table_{table.get()} { open(list); }

  // False at the end.
  bool next(Field& field);

  // False: some of the list is lost. `kind` is of the entry that could not be read, or 0 where
  // there is no list.
  [[nodiscard]] bool ok() const { return !lost_; }
  [[nodiscard]] u16 kind() const { return fields_ ? fields_->kind() : u16{0}; }

 private:
  void open(u32 list);

  const TypeTable& table_;
  std::optional<FieldList> fields_;
  u32 list_ = 0;
  bool lost_ = false;
};

}  // namespace coldtrace::pe
