#include <map>
#include <set>

#include "cli/command/version.hpp"
#include "cli/images/symbol_file.hpp"
#include "cli/output/c_text.hpp"
#include "cli/output/text.hpp"
#include "cli/pe/types/c_names.hpp"
#include "cli/pe/types/type_view.hpp"
#include "coldtrace/pdb/c_definition.hpp"
#include "coldtrace/pdb/type_layers.hpp"

namespace coldtrace::cli {
namespace {

using pe::PlacedMember;
using pe::Region;
using pe::TypeLayer;

// <stddef.h> of MinGW declares structures that PDBs have too, as localeinfo_struct.
constexpr std::string_view preamble =
    "/* Types of {}, {} {}, age {}, written by {}.\n"
    "   They are valid only for the image with this {} and age; the last lines of each type make\n"
    "   the compiler check its layout against the PDB. */\n"
    "#ifndef {}\n"
    "#define {}\n"
    "\n"
    "#if defined(__GNUC__) || defined(__clang__)\n"
    "#define COLDTRACE_OFFSET(type, member) __builtin_offsetof(type, member)\n"
    "#else\n"
    "#include <stddef.h>\n"
    "#define COLDTRACE_OFFSET(type, member) offsetof(type, member)\n"
    "#endif\n"
    "#ifdef __cplusplus\n"
    "#define COLDTRACE_CHECK(condition) static_assert(condition, #condition)\n"
    "#else\n"
    "#define COLDTRACE_CHECK(condition) _Static_assert(condition, #condition)\n"
    "#endif\n"
    "\n"
    "#pragma pack(push, 1)\n";

constexpr u32 most_levels = 128;  // of structures in structures

// Writes types, those first that others have as members.
class Writer {
 public:
  Writer(Output& output, const TypeView& view, TypeWriting& writing)
      : output_{output}, table_{view.file.table}, writing_{writing}, names_{table_} {}

  void write(u32 index) {
    const auto& record = *table_.find_record(index);
    if (pe::read_enumeration(record))
      write_enumeration(index);
    else
      define(index, 0);
  }

 private:
  // Whether the aggregate is a complete type of C now.
  bool define(u32 index, u32 level) {
    if (const auto known = defined_.find(index); known != defined_.end()) return known->second;
    defined_[index] = false;  // while it is written: one that contains itself has no size
    if (level == most_levels) return false;
    const auto definition =
        pe::find_c_definition(table_, index, writing_.budget, writing_.findings);
    if (!definition) return false;
    for (const auto& member : definition->members.placed) define_what_it_is(member.type, level);
    pe::note_left_out(*definition, writing_.findings);
    write_aggregate(index, *definition);
    return defined_[index] = true;
  }

  void define_what_it_is(u32 type, u32 level) {
    const auto layers = pe::layers_of(table_, type);
    for (const auto& layer : layers) {
      if (layer.kind == TypeLayer::Kind::pointer) return;
      if (layer.kind == TypeLayer::Kind::named &&
          layer.named->family != pe::TypeTable::Family::enumeration)
        define(layer.index, level + 1);
    }
  }

  void write_aggregate(u32 index, const pe::CDefinition& definition) {
    const auto& aggregate = definition.aggregate;
    const auto& members = definition.members.placed;
    const bool is_union = aggregate.kind == pe::AggregateKind::union_;
    const auto regions = pe::regions_of(members, aggregate.size, is_union);
    const auto tag = names_.tag_of(index);
    MemberNames member_names{members};
    text_ = fmt::format("\n/* {:#x} bytes{} */\n{} {{\n", aggregate.size,
                        c_comment(c_identifier(aggregate.name)) == c_identifier(aggregate.name) &&
                                aggregate.name == names_.plain_name(index)
                            ? ""
                            : fmt::format(": {}", c_comment(printable(aggregate.name))),
                        tag);
    paddings_ = 0;
    write_left_out(definition);
    if (is_union)
      write_union_body(regions, members, member_names, aggregate.size);
    else
      pad(write_parts(regions, members, member_names, 1, 0), aggregate.size, 1);
    text_ += "};\n";
    text_ += fmt::format("COLDTRACE_CHECK(sizeof({}) == {:#x});\n", tag, aggregate.size);
    write_checks(regions, members, member_names, tag);
    writing_.budget.take(text_.size());
    output_.write(text_);
  }

  // Members that C has no place for stand in comments.
  void write_left_out(const pe::CDefinition& definition) {
    const auto write = [&](const auto& member, std::string_view why) {
      line(1, fmt::format("/* +{:#05x} {}{}{}: left out, {} */", member.offset,
                          c_comment(printable(member.name)), member.name.empty() ? "" : " ",
                          c_comment(printable(pe::to_text(table_, member.type))), why));
    };
    for (const auto& member : definition.members.unplaced)
      write(member, member.why == pe::UnplacedMember::Why::size
                        ? "its size is not known"
                        : "its bits lie outside its integer");
    for (const auto& member : definition.members.placed) {
      if (definition.is_empty_base(member))
        write(member, "it is an empty base class");
      else if (!member.lies_within(definition.aggregate.size))
        write(member, "it reaches beyond the type");
      else if (member.size == 0 && !is_empty_array(member))
        write(member, "it has no bytes");
      else if (member.is_bit_field() && integer_of(member).empty())
        write(member, "no integer type of C fits");
    }
  }

  void write_union_body(const Region& whole, const std::vector<PlacedMember>& members,
                        const MemberNames& names, u64 size) {
    if (whole.size < size || whole.parts.empty())
      line(1, fmt::format("unsigned char whole_[{}];", size));
    for (const auto& alternatives : whole.parts)
      for (const auto& part : alternatives.parts) write_alternative(part, members, names, 1, 0);
  }

  // Returns where the parts end.
  u64 write_parts(const Region& sequence, const std::vector<PlacedMember>& members,
                  const MemberNames& names, unsigned indent, u64 at) {
    for (const auto& part : sequence.parts) {
      pad(at, part.offset, indent);
      switch (part.kind) {
        case Region::Kind::member:
          write_member(members[part.members[0]], names.of(part.members[0]), indent);
          break;
        case Region::Kind::bits:
          write_bits(part, members, names, indent);
          break;
        case Region::Kind::alternatives:
          if (part.size == 0) {
            for (const auto& one : part.parts)
              write_parts(one, members, names, indent, part.offset);
            break;
          }
          line(indent, "union {");
          for (const auto& one : part.parts)
            write_alternative(one, members, names, indent + 1, part.offset);
          line(indent, "};");
          break;
        case Region::Kind::sequence:
          break;
      }
      at = part.offset + part.size;
    }
    return at;
  }

  // Without a structure where there are no bytes: clang gives one of zero-length arrays alone four.
  void write_alternative(const Region& sequence, const std::vector<PlacedMember>& members,
                         const MemberNames& names, unsigned indent, u64 base) {
    const bool alone =
        sequence.size == 0 || (sequence.parts.size() == 1 && sequence.parts[0].offset == base);
    if (!alone) line(indent, "struct {");
    write_parts(sequence, members, names, indent + (alone ? 0 : 1), base);
    if (!alone) line(indent, "};");
  }

  void write_member(const PlacedMember& member, const std::string& name, unsigned indent) {
    if (member.size == 0 && !is_empty_array(member)) return;
    line(indent, fmt::format("{}; /* +{:#05x} {} */", declaration_of(member, name), member.offset,
                             c_comment(printable(pe::to_text(table_, member.type)))));
  }

  void write_bits(const Region& bits, const std::vector<PlacedMember>& members,
                  const MemberNames& names, unsigned indent) {
    const auto integer = integer_of(members[bits.members[0]]);
    if (integer.empty())
      return line(indent, fmt::format("unsigned char bits_{}[{}];", ++paddings_, bits.size));
    line(indent, "struct {");
    unsigned at = 0;
    for (const auto number : bits.members) {
      const auto& member = members[number];
      if (member.bit_position > at)
        line(indent + 1, fmt::format("{} : {};", integer, member.bit_position - at));
      line(indent + 1, fmt::format("{} {} : {}; /* +{:#05x} Pos {} */", integer, names.of(number),
                                   member.bit_length, member.offset, member.bit_position));
      at = unsigned{member.bit_position} + member.bit_length;
    }
    if (at < bits.size * 8) line(indent + 1, fmt::format("{} : {};", integer, bits.size * 8 - at));
    line(indent, "};");
  }

  // The integer type of C that a bit field lies in; empty where there is none.
  std::string_view integer_of(const PlacedMember& member) const {
    const auto layers = pe::layers_of(table_, member.type);
    const auto& last = layers.back();
    const pe::SimpleType* simple = last.simple;
    if (last.kind == TypeLayer::Kind::named)
      if (const auto head = pe::read_enumeration(*table_.find_record(last.index)))
        simple = pe::find_simple_type(head->underlying);
    return simple && simple->size == member.size ? simple->c : std::string_view{};
  }

  bool is_empty_array(const PlacedMember& member) const {
    const auto layers = pe::layers_of(table_, member.type);
    return layers[0].kind == TypeLayer::Kind::array;
  }

  // "unsigned int name[3]", or bytes of the same size where C has no such type here.
  std::string declaration_of(const PlacedMember& member, const std::string& name) {
    std::string dimensions;
    auto bytes = fmt::format("unsigned char {}[{}]", name, member.size);
    u64 size = member.size;
    for (const auto& layer : pe::layers_of(table_, member.type)) {
      if (layer.kind == TypeLayer::Kind::modifier) continue;
      if (layer.kind != TypeLayer::Kind::array) {
        const auto base = base_of(layer, size);
        return base.empty() ? bytes : fmt::format("{}{}{}", base, name, dimensions);
      }
      if (!layer.count || (size != 0 && (*layer.count == 0 || size % *layer.count != 0)))
        return bytes;
      dimensions += fmt::format("[{}]", *layer.count);
      if (size == 0) return bytes;
      size /= *layer.count;
    }
    return bytes;
  }

  // What stands before the name, of a type that takes `size` bytes in C.
  std::string base_of(const TypeLayer& layer, u64 size) {
    if (layer.size != size) return {};
    switch (layer.kind) {
      case TypeLayer::Kind::simple:
        return layer.simple && !layer.simple->c.empty() ? fmt::format("{} ", layer.simple->c) : "";
      case TypeLayer::Kind::pointer:
        return size == table_.pointer_size() ? pointer_to(layer.pointer.to) : "";
      case TypeLayer::Kind::named:
        if (const auto head = pe::read_enumeration(*table_.find_record(layer.index))) {
          const auto* const simple = pe::find_simple_type(head->underlying);
          return simple && !simple->c.empty() ? fmt::format("{} ", simple->c) : "";
        }
        return defined_[layer.index] ? names_.tag_of(layer.index) + " " : "";
      default:
        return {};
    }
  }

  std::string pointer_to(u32 type) {
    const auto layers = pe::layers_of(table_, table_.unmodified(type));
    const auto& target = layers[0];
    if (target.kind == TypeLayer::Kind::simple && target.simple && !target.simple->c.empty())
      return fmt::format("{} *", target.simple->c);
    if (target.kind == TypeLayer::Kind::named &&
        target.named->family != pe::TypeTable::Family::enumeration)
      return names_.tag_of(target.index) + " *";
    return "void *";
  }

  void write_checks(const Region& region, const std::vector<PlacedMember>& members,
                    const MemberNames& names, const std::string& tag) {
    for (const auto& part : region.parts) {
      write_checks(part, members, names, tag);
      if (part.kind != Region::Kind::member) continue;
      const auto& member = members[part.members[0]];
      if (member.size == 0 && !is_empty_array(member)) continue;
      text_ += fmt::format("COLDTRACE_CHECK(COLDTRACE_OFFSET({}, {}) == {:#x});\n", tag,
                           names.of(part.members[0]), member.offset);
    }
  }

  void write_enumeration(u32 index) {
    if (!defined_.emplace(index, true).second) return;
    const auto head = pe::read_enumeration(*table_.find_record(index));
    if (head->forward()) return;
    text_ = fmt::format("\n{} {{\n", names_.tag_of(index));
    u64 count = 0;
    pe::visit_members(table_, index, {}, writing_.budget, writing_.findings,
                      [&](const pe::TypeMember& one) {
                        if (one.field.kind != pe::Field::Kind::enumerator) return;
                        ++count;
                        line(1, fmt::format("{} = {},", names_.enumerator(one.name, index),
                                            enumerator_number(index, one.field.value)));
                      });
    if (count == 0) return;  // which C has none of
    text_ += "};\n";
    output_.write(text_);
  }

  std::string enumerator_number(u32 index, u64 number) const {
    constexpr u64 most_int = 0x7fff'ffff;
    if (!is_negative(table_, index, number))
      return number <= most_int ? fmt::format("{}", number) : fmt::format("{:#x}ull", number);
    // The least number has no literal.
    return fmt::format("-{}ll - 1", static_cast<u64>(-(static_cast<i64>(number) + 1)));
  }

  void pad(u64 from, u64 to, unsigned indent) {
    if (to > from)
      line(indent, fmt::format("unsigned char padding_{}_[{}];", ++paddings_, to - from));
  }

  void line(unsigned indent, std::string_view content) {
    text_.append(std::size_t{indent} * 2, ' ');
    text_ += content;
    text_ += '\n';
  }

  Output& output_;
  const pe::TypeTable& table_;
  TypeWriting& writing_;
  CNames names_;
  std::map<u32, bool> defined_;
  std::string text_;  // of the type that is being written
  unsigned paddings_ = 0;
};

}  // namespace

void write_types_c_header(Output& output, const TypeView& view, TypeWriting& writing) {
  const auto& identity = view.file.identity;
  const auto guid =
      guid_text(identity).value_or(fmt::format("{:08X}", identity.signature.value_or(0)));
  const auto guard = c_identifier(fmt::format("COLDTRACE_TYPES_{}_{}", guid, identity.age));
  const auto slash = view.file.path.find_last_of('/');
  const auto name = view.file.path.substr(slash == std::string::npos ? 0 : slash + 1);
  print(output, preamble, c_comment(printable(name)), identity.guid ? "GUID" : "time stamp", guid,
        identity.age, tool_version, identity.guid ? "GUID" : "time stamp", guard, guard);
  Writer writer{output, view, writing};
  for (const auto& type : view.types) writer.write(type.index);
  output.write("\n#pragma pack(pop)\n#undef COLDTRACE_OFFSET\n#undef COLDTRACE_CHECK\n#endif\n");
}

}  // namespace coldtrace::cli
