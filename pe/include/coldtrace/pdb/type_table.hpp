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

// All type records of a PDB (its TPI stream, number 2), by index and by name. Each is read once,
// and decoded on demand. Those of Visual C++ 4, whose indexes have 16 bits, are read like their
// later replacements. A view: the file must outlive it. Source: LLVM, "The PDB TPI and IPI
// Streams"; microsoft-pdb, cvinfo.h and tpi.h.
class TypeTable {
 public:
  enum class Family : u8 { structure, union_, enumeration };  // classes are structures

  // A definition of a type, not a declaration.
  struct Definition {
    std::string_view name;
    u32 index;
    Family family;
  };

  // Fails if there is no TPI stream or its header cannot be used. A record that cannot be read ends
  // the list with the finding `pdb-types`.
  static core::Result<TypeTable> read(const Pdb& pdb, core::Findings& findings);

  // The types of `records`, in the form of a TPI stream after its header; the first has the index
  // 0x1000.
  [[nodiscard]] static TypeTable of(core::BorrowedBytes records, u8 pointer_size,
                                    core::Findings& findings);

  [[nodiscard]] u32 version() const { return version_; }  // 0 for records without a stream
  [[nodiscard]] u32 first_index() const { return first_index_; }
  [[nodiscard]] u64 count() const { return records_.size(); }
  [[nodiscard]] u64 size() const { return stream_.view().size(); }  // of the stream, in bytes
  // Of the program, in bytes; 0 if nothing in the file says so.
  [[nodiscard]] u8 pointer_size() const { return pointer_size_; }

  // From the kind on; null if there is none.
  [[nodiscard]] const core::ByteView* find_record(u32 index) const;

  // By name, then index.
  [[nodiscard]] const std::vector<Definition>& definitions() const { return by_name_; }
  // Declarations without a definition, one for each name in `wanted`, by name.
  [[nodiscard]] std::vector<Definition> undefined(
      const std::function<bool(std::string_view)>& wanted) const;

  // The definition of a structure, union or enumeration; for a declaration at `index`, its
  // definition. They are matched by the unique name if both have one, since C and C++ may define
  // two types with one name in one PDB. A declaration without one belongs to the first definition
  // without one, of its kind and name. `pdb-type-ambiguous` if there are several that differ.
  [[nodiscard]] std::optional<u32> find_definition(u32 index, core::Findings& findings) const;

  // The first structure or union, or the first enumeration, with this name.
  [[nodiscard]] std::optional<u32> find_structure(std::string_view name,
                                                  core::Findings& findings) const;
  [[nodiscard]] std::optional<u32> find_enumeration(std::string_view name,
                                                    core::Findings& findings) const;

  // The type after LF_MODIFIER records.
  [[nodiscard]] u32 unmodified(u32 index) const;

  // Reports that `name` may be one of the records that cannot be read, if there are any.
  void report_unread(std::string_view name, core::Findings& findings) const;

  // Reports that there are such records, for lists of all types.
  void report_unread(core::Findings& findings) const;

 private:
  using Definitions = std::vector<Definition>;

  // `at` is their place in the stream of `pdb`, if they are in it.
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
  std::vector<u32> unread_;     // indexes of records that may be definitions, and cannot be read
};

// The definition in a record, of either kind.
struct TypeHead {
  TypeTable::Family family;
  u32 properties;
  u32 fields;
  std::string_view name;
  std::string_view unique_name;
};
[[nodiscard]] std::optional<TypeHead> read_type_head(core::ByteView record);

// Goes through a field list, and those in which it continues, which have lower indexes.
class FieldWalk {
 public:
  FieldWalk(core::Borrowed<TypeTable> table, u32 list) : table_{table.get()} { open(list); }

  // False at the end.
  bool next(Field& field);

  // False: some of the list is lost. `kind` is that of the entry that could not be read, or 0 if
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
