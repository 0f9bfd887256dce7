#include "pe/isf/isf_records.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/isf_names.hpp"
#include "coldtrace/pdb/type_records.hpp"
#include "coldtrace/pe/headers.hpp"
#include "pe/isf/record_writer.hpp"

namespace coldtrace::pe {
namespace {

// Source of the kinds of records: microsoft-pdb, cvinfo.h, LEAF_ENUM_e.
constexpr u16 kind_pointer = 0x1002;
constexpr u16 kind_procedure = 0x1008;
constexpr u16 kind_field_list = 0x1203;
constexpr u16 kind_bit_field = 0x1205;
constexpr u16 kind_index = 0x1404;
constexpr u16 kind_enumerate = 0x1502;
constexpr u16 kind_array = 0x1503;
constexpr u16 kind_structure = 0x1505;
constexpr u16 kind_union = 0x1506;
constexpr u16 kind_enum = 0x1507;
constexpr u16 kind_member = 0x150d;

constexpr u32 no_type = 0;
constexpr u32 void_type = 0x03;
constexpr u32 most_elements = 0xffff;    // what the count of a record holds
constexpr u32 most_levels = 16;          // of anonymous members in each other
constexpr u64 most_repeated = 64 << 20;  // bytes of members that are in anonymous ones

enum class Family : u8 { structure, union_, enumeration };

// A type where it is used: its record, how large it is, if that is known, and which bits of it.
struct Used {
  u32 index = no_type;
  std::optional<u64> size;
  u64 bit_position = 0;
  u64 bit_length = 0;  // 0: no bit field
};

// A member and its record.
struct Placed {
  u64 offset = 0;
  Used type;
  std::string_view name;
  RecordBytes record;
};

// Objects of JSON have no order, and tables of pdbconv.py have their members in that of names. Of
// those that begin at one bit the larger come first, so that what lies behind a smaller one follows
// it, as in a structure that is a part of a union.
bool lies_before(const Placed& a, const Placed& b) {
  const auto place = [](const Placed& one) {
    return std::tuple{one.offset,
                      one.type.bit_position,
                      one.type.bit_length != 0,
                      ~one.type.size.value_or(0),
                      ~one.type.bit_length,
                      one.name};
  };
  return place(a) < place(b);
}

std::optional<u64> natural(const IsfTable::Number& number) {
  return number && !number->negative ? std::optional{number->bits} : std::nullopt;
}

// Signed or not: pdbconv.py writes constants below 0 as what their bits are without a sign.
bool fits(const IsfTable::Integer& number, u64 size) {
  if (size >= sizeof(u64)) return true;
  const u64 most = ~u64{0} >> (64 - size * 8);
  return number.negative ? ~number.bits <= most / 2 : number.bits <= most;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_isf_name && name.find('\0') == name.npos;
}

bool is_structure_kind(std::string_view kind) {
  return kind == "struct" || kind == "class" || kind == "interface";
}

struct Constant {
  IsfTable::Integer value;
  std::string_view name;
};

bool counts_before(const Constant& a, const Constant& b) {
  return std::tuple{!a.value.negative, a.value.bits, a.name} <
         std::tuple{!b.value.negative, b.value.bits, b.name};
}

// The language's type that is called so and is the same, else one that is the same.
u32 simple_type_of(const IsfTable::Base& base) {
  u32 found = no_type;
  const auto size = natural(base.size);
  if (base.endian == "big" || !size) return no_type;
  for (u32 index = 0x7f; index > 0; --index) {
    const auto* const type = find_simple_type(index);
    if (!type) continue;
    const auto known = isf_base_of(*type);
    if (known.kind != base.kind || known.size != *size) continue;
    if (known.kind != "void" && known.is_signed != base.is_signed) continue;
    if (known.name == base.name) return index;
    found = index;
  }
  return found;
}

class Converter {
 public:
  Converter(const IsfTable& table, core::Findings& findings)
      : table_{table}, findings_{findings}, pointer_size_{pointer_size_of(table)} {
    for (const auto& base : table.bases) bases_.emplace(base.name, &base);
    for (const auto& type : table.user_types) users_.emplace(type.name, &type);
    for (const auto& type : table.enumerations) enumerations_.emplace(type.name, &type);
  }

  std::vector<std::byte> convert() {
    std::set<std::string_view> taken;
    for (const auto& type : table_.user_types)
      if (is_new_type(type.name, taken)) add_user_type(type);
    taken.clear();
    for (const auto& type : table_.enumerations)
      if (is_new_type(type.name, taken)) add_enumeration(type);
    return writer_.take();
  }

 private:
  void report(std::string_view what) {
    if (member_)
      report_isf_entry(findings_, {type_, *member_}, what);
    else
      report_isf_entry(findings_, {type_}, what);
  }

  bool is_new_type(std::string_view name, std::set<std::string_view>& taken) {
    type_ = name;
    member_.reset();
    return is_new(name, taken);
  }

  bool is_new_member(std::string_view name, std::set<std::string_view>& taken) {
    member_ = name;
    return is_new(name, taken);
  }

  bool is_new(std::string_view name, std::set<std::string_view>& taken) {
    if (!is_name(name))
      report("the name is empty, longer than 4,096 bytes or contains a NUL");
    else if (!taken.insert(name).second)
      report("the name occurs twice; the first is used");
    else
      return true;
    return false;
  }

  // ---- Definitions.

  void add_user_type(const IsfTable::UserType& type) {
    const bool is_union = type.kind == "union";
    if (!is_union && !is_structure_kind(type.kind))
      return report("its kind is neither struct, class nor union");
    const auto size = natural(type.size);
    if (!size) return report("it has no size");
    if (!type.has_fields) return report("it has no object 'fields'");
    std::vector<Placed> fields;
    std::set<std::string_view> taken;
    add_fields(type, 0, 0, fields, taken);
    member_.reset();
    std::sort(fields.begin(), fields.end(), lies_before);
    std::vector<RecordBytes> members;
    members.reserve(fields.size());
    for (auto& field : fields) members.push_back(std::move(field.record));
    const auto count = limit(members);
    const auto list = add_list(members);
    RecordBytes record;
    record.put(is_union ? kind_union : kind_structure, 2).put(count, 2).put(0, 2).put(list, 4);
    if (!is_union) record.put(0, 8);  // neither derived nor with a virtual table
    writer_.add(record.number(*size).name(type.name));
  }

  // Members of anonymous structures and unions are the type's own, as compilers have them in PDBs.
  void add_fields(const IsfTable::UserType& type, u64 base, u32 level, std::vector<Placed>& members,
                  std::set<std::string_view>& taken) {
    for (u32 i = type.first_field; i < type.end_field; ++i) {
      const auto& field = table_.fields[i];
      member_ = field.name;
      if (level > 0 && !take_room(field)) return;
      if (!field.anonymous && !is_new(field.name, taken)) continue;
      const auto offset = natural(field.offset);
      const auto place = offset ? core::checked_add(base, *offset) : std::nullopt;
      if (!place) {
        report(offset ? "the member lies beyond 64 bits" : "the member has no offset");
      } else if (field.anonymous) {
        add_anonymous(field, *place, level + 1, members, taken);
      } else {
        const auto used = use(field.type);
        members.push_back({*place, used, field.name, {}});
        auto& record = members.back().record;
        record.put(kind_member, 2).put(0, 2).put(used.index, 4).number(*place);
        record.name(field.name).pad();
      }
    }
  }

  void add_anonymous(const IsfTable::Field& field, u64 place, u32 level,
                     std::vector<Placed>& members, std::set<std::string_view>& taken) {
    const auto type =
        field.type == IsfTable::none ? users_.end() : users_.find(table_.types[field.type].name);
    if (type == users_.end())
      report("the type of the anonymous member is not defined");
    else if (level > most_levels)
      report("anonymous members are nested deeper than 16 levels");
    else
      add_fields(*type->second, place, level, members, taken);
  }

  bool take_room(const IsfTable::Field& field) {
    constexpr u64 most_of_a_record = 64;  // besides the name
    const auto needed = field.name.size() + most_of_a_record;
    if (needed <= room_) {
      room_ -= needed;
      return true;
    }
    if (room_ > 0) report("anonymous members have more members than a table can hold");
    room_ = 0;
    return false;
  }

  void add_enumeration(const IsfTable::Enumeration& type) {
    if (!type.has_constants) return report("it has no object 'constants'");
    const auto base = find_base(type.base);
    if (base.index == no_type)
      report("its base is unknown");
    else if (natural(type.size) != base.size)
      report("its size differs from that of its base, which is used");
    std::vector<Constant> constants;
    std::set<std::string_view> taken;
    for (u32 i = type.first_constant; i < type.end_constant; ++i) {
      const auto& constant = table_.constants[i];
      if (!is_new_member(constant.name, taken)) continue;
      if (!constant.value) {
        report("the constant has no number");
        continue;
      }
      if (base.size && !fits(*constant.value, *base.size)) {
        report("the constant does not fit in the integer of its enumeration");
        continue;
      }
      constants.push_back({*constant.value, constant.name});
    }
    member_.reset();
    std::sort(constants.begin(), constants.end(), counts_before);
    std::vector<RecordBytes> members(constants.size());
    for (std::size_t i = 0; i < constants.size(); ++i) {
      const auto& [value, name] = constants[i];
      members[i].put(kind_enumerate, 2).put(0, 2).number(value.bits, value.negative);
      members[i].name(name).pad();
    }
    const auto count = limit(members);
    const auto list = add_list(members);
    RecordBytes record;
    record.put(kind_enum, 2).put(count, 2).put(0, 2).put(base.index, 4).put(list, 4);
    writer_.add(record.name(type.name));
  }

  std::size_t limit(std::vector<RecordBytes>& members) {
    if (members.size() > most_elements) {
      report("it has more than 65,535 members; the others are left out");
      members.resize(most_elements);
    }
    return members.size();
  }

  // A list goes on in a record that comes before it.
  u32 add_list(const std::vector<RecordBytes>& members) {
    constexpr std::size_t room = RecordWriter::longest - 16;
    std::vector<RecordBytes> lists;
    for (const auto& member : members) {
      if (lists.empty() || lists.back().size() + member.size() > room) {
        lists.emplace_back();
        lists.back().put(kind_field_list, 2);
      }
      lists.back().append(member);
    }
    if (lists.empty()) return 0;
    u32 index = writer_.add(lists.back());
    for (auto list = lists.rbegin() + 1; list != lists.rend(); ++list)
      index = writer_.add(list->put(kind_index, 2).put(0, 2).put(index, 4));
    return index;
  }

  // ---- Types where they are used. JSON is nested 64 levels at most, and so are these.

  Used use(u32 number) {
    if (number == IsfTable::none) return missing("a type is missing");
    const auto& type = table_.types[number];
    if (type.kind == "base") return use_base(type);
    if (type.kind == "pointer") return use_pointer(type);
    if (type.kind == "array") return use_array(type);
    if (type.kind == "bitfield") return use_bit_field(type);
    if (type.kind == "function") return {writer_.add(function_record()), std::nullopt};
    if (type.kind == "enum") return use_named(type, Family::enumeration);
    if (type.kind == "union") return use_named(type, Family::union_);
    if (is_structure_kind(type.kind)) return use_named(type, Family::structure);
    return missing("its type is of unknown kind");
  }

  Used missing(std::string_view what) {
    report(what);
    return {};
  }

  // What is returned and taken is not in the table.
  static RecordBytes function_record() {
    RecordBytes record;
    record.put(kind_procedure, 2).put(no_type, 4).put(unknown_convention, 1).put(0, 1);
    return record.put(0, 2).put(no_type, 4);
  }

  Used find_base(std::string_view name) const {
    const auto found = bases_.find(name);
    if (found == bases_.end()) return {};
    const auto index = simple_type_of(*found->second);
    const auto* const type = find_simple_type(index);
    if (!type) return {};
    return {index, type->size != 0 ? std::optional<u64>{type->size} : std::nullopt};
  }

  // "pointer" as a base type is one of which it is not said where it leads.
  Used use_base(const IsfTable::Type& type) {
    if (type.name.starts_with("pointer")) return add_pointer(type.name, void_type);
    const auto used = find_base(type.name);
    return used.index == no_type ? missing("its base type is unknown") : used;
  }

  Used use_pointer(const IsfTable::Type& type) {
    return add_pointer(type.base.empty() ? "pointer" : type.base, use(type.inner).index);
  }

  Used add_pointer(std::string_view base, u32 to) {
    u64 size = pointer_size_;
    if (const auto found = bases_.find(base); found != bases_.end())
      size = natural(found->second->size).value_or(0);
    if (size != 2 && size != 4 && size != 8)
      return missing("pointers have a size other than 2, 4 or 8 bytes");
    constexpr u32 near_32 = 0x0a;
    constexpr u32 near_64 = 0x0c;
    const u64 kind = size == 4 ? near_32 : size == 8 ? near_64 : 0;
    RecordBytes record;
    record.put(kind_pointer, 2).put(to, 4).put(kind | size << 13, 4);
    return {writer_.add(record), size};
  }

  Used use_array(const IsfTable::Type& type) {
    const auto element = use(type.inner);
    const auto count = natural(type.count);
    if (!count) return missing("an array has no count");
    if (!element.size) return missing("the elements of an array have no size");
    if (*element.size != 0 && *count > ~u64{0} / *element.size)
      return missing("an array is larger than 64 bits can express");
    const u64 size = *count * *element.size;
    constexpr u32 index_type = 0x23;
    RecordBytes record;
    record.put(kind_array, 2).put(element.index, 4).put(index_type, 4).number(size).name("");
    return {writer_.add(record), size};
  }

  Used use_bit_field(const IsfTable::Type& type) {
    const auto integer = use(type.inner);
    const auto position = natural(type.bit_position);
    const auto length = natural(type.bit_length);
    if (!integer.size || !position || !length || *length == 0 || *length > 64 ||
        *position > 64 - *length || *position + *length > *integer.size * 8)
      return missing("the bits of a bit field lie outside its integer");
    RecordBytes record;
    record.put(kind_bit_field, 2).put(integer.index, 4).put(*length, 1).put(*position, 1);
    return {writer_.add(record), integer.size, *position, *length};
  }

  // A declaration; of what the table defines by that name, of whatever kind, else of what is said.
  Used use_named(const IsfTable::Type& type, Family family) {
    if (!is_name(type.name)) return missing("a type has no valid name");
    std::optional<u64> size;
    const auto user = users_.find(type.name);
    const auto enumeration = enumerations_.find(type.name);
    const bool is_enumeration = enumeration != enumerations_.end() &&
                                (family == Family::enumeration || user == users_.end());
    if (is_enumeration) {
      family = Family::enumeration;
      size = find_base(enumeration->second->base).size;
    } else if (user != users_.end()) {
      family = user->second->kind == "union" ? Family::union_ : Family::structure;
      size = natural(user->second->size);
    }
    const auto kind = family == Family::enumeration ? kind_enum
                      : family == Family::union_    ? kind_union
                                                    : kind_structure;
    RecordBytes record;
    record.put(kind, 2).put(0, 2).put(property_forward, 2);
    record.put(0, family == Family::structure ? 12 : family == Family::union_ ? 4 : 8);
    if (family != Family::enumeration) record.number(0);
    return {writer_.add(record.name(type.name)), size};
  }

  const IsfTable& table_;
  core::Findings& findings_;
  // What is read: a type, or a member or constant of it.
  std::string_view type_;
  std::optional<std::string_view> member_;
  u8 pointer_size_;
  u64 room_ = most_repeated;
  std::unordered_map<std::string_view, const IsfTable::Base*> bases_;
  std::unordered_map<std::string_view, const IsfTable::UserType*> users_;
  std::unordered_map<std::string_view, const IsfTable::Enumeration*> enumerations_;
  RecordWriter writer_;
};

}  // namespace

void report_isf_entry(core::Findings& findings, std::initializer_list<std::string_view> path,
                      std::string_view what) {
  constexpr std::size_t most_shown = 64;
  std::string text;
  for (const auto name : path) {
    if (!text.empty()) text += '.';
    text += core::to_valid_utf8(name.substr(0, most_shown));
  }
  findings.warning("isf-entry", std::nullopt, "'{}': {}", text, what);
}

u8 pointer_size_of(const IsfTable& table) {
  const auto found = std::ranges::find(table.bases, "pointer", &IsfTable::Base::name);
  if (found != table.bases.end())
    if (const auto size = natural(found->size); size == u64{4} || size == u64{8})
      return static_cast<u8>(*size);
  return pointer_size_of(static_cast<Machine>(natural(table.machine).value_or(0)));
}

u8 pointer_size_of(Machine machine) {
  switch (machine) {
    case Machine::i386:
    case Machine::arm:
    case Machine::armnt:
      return 4;
    case Machine::amd64:
    case Machine::arm64:
      return 8;
    default:
      return 0;
  }
}

std::vector<std::byte> to_type_records(const IsfTable& table, core::Findings& findings) {
  return Converter{table, findings}.convert();
}

}  // namespace coldtrace::pe
