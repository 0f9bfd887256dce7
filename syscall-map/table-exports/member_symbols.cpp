#include "coldtrace/syscall-map/table-exports/member_symbols.hpp"

#include <algorithm>
#include <tuple>

#include "syscall-map/table-exports/chosen_values.hpp"

namespace coldtrace::syscall_map {
namespace {

// Why a value does not become part of a type; empty where it does.
std::string_view add_field(const MemberValue& member, MemberSymbols& result) {
  const auto [type, path] = split_member(member.expression);
  const auto found = result.types.find(std::string{type});
  if (found == result.types.end()) return "the size of its structure is not asked for";
  if (path.find('.') != path.npos) return "it is a member of a member, whose type has no name here";
  if (!member.size || *member.size == 0) return "its size is unknown";
  if (*member.value > found->second.size || *member.size > found->second.size - *member.value)
    return "it does not lie in its structure";
  if (member.bit_length &&
      u64{member.bit_position.value_or(0)} + *member.bit_length > u64{*member.size} * 8)
    return "its bits lie outside its integer";
  auto& fields = found->second.fields;
  const auto same = std::ranges::find(fields, path, &MemberSymbols::Field::name);
  if (same == fields.end())
    fields.push_back(
        {std::string{path}, *member.value, *member.size, member.bit_position, member.bit_length});
  return {};
}

bool is_size_of_type(const MemberValue& member) {
  return member.kind == MemberKind::size && split_member(member.expression).path.empty();
}

bool is_address(const MemberValue& member) {
  return member.kind == MemberKind::global || member.kind == MemberKind::function;
}

std::string_view add_symbol(const MemberValue& member, MemberSymbols& result) {
  if (*member.value > ~u32{0}) return "its address cannot lie in an image";
  result.symbols.try_emplace(member.expression, static_cast<u32>(*member.value));
  return {};
}

std::string_view add_type(const MemberValue& size, MemberSymbols& result) {
  if (!size.enumeration) {
    result.types.try_emplace(size.expression).first->second.size = *size.value;
    return {};
  }
  if (*size.value != 1 && *size.value != 2 && *size.value != 4 && *size.value != 8)
    return "no integer has its size";
  result.enumerations.try_emplace(size.expression).first->second.size =
      static_cast<u32>(*size.value);
  return {};
}

std::string_view add_constant(const MemberValue& member, MemberSymbols& result) {
  const auto [type, name] = split_member(member.expression);
  const auto found = result.enumerations.find(std::string{type});
  if (found == result.enumerations.end()) return "the size of its enumeration is not asked for";
  auto& [size, constants] = found->second;
  const u64 most = ~u64{0} >> (64 - size * 8);
  if (member.negative ? ~*member.value > most / 2 : *member.value > most)
    return "it does not fit in the integer of its enumeration";
  constants.try_emplace(std::string{name}, MemberSymbols::Constant{*member.value, member.negative});
  return {};
}

// Whether the size or bit of a member is that of a field; true for what stands by itself.
bool is_told(const MemberValue& member, const MemberSymbols& symbols) {
  const auto [type, path] = split_member(member.expression);
  const bool of_member =
      member.kind == MemberKind::bit || (member.kind == MemberKind::size && !path.empty());
  if (!of_member) return true;
  const auto found = symbols.types.find(std::string{type});
  return found != symbols.types.end() &&
         std::ranges::find(found->second.fields, path, &MemberSymbols::Field::name) !=
             found->second.fields.end();
}

}  // namespace

bool MemberSymbols::Enumeration::is_signed() const {
  return std::ranges::any_of(constants, [](const auto& one) { return one.second.negative; });
}

MemberSymbols make_member_symbols(const HookTable& build, core::Findings& findings) {
  MemberSymbols result;
  LeftOutValues left_out;
  for (const auto& member : build.members)
    if (is_reliable(member) && is_size_of_type(member))
      if (const auto why = add_type(member, result); !why.empty())
        left_out.add(build, member.name, why);
  for (const auto& member : build.members) {
    if (!member.value && member.optional) continue;
    std::string_view why = is_reliable(member) ? "" : "no reliable value";
    if (why.empty() && member.kind == MemberKind::offset) why = add_field(member, result);
    if (why.empty() && member.kind == MemberKind::constant) why = add_constant(member, result);
    if (why.empty() && is_address(member)) why = add_symbol(member, result);
    if (!why.empty()) left_out.add(build, member.name, why);
  }
  // The size of a member and the position of a bit field are told by the member itself.
  for (const auto& member : build.members)
    if (is_reliable(member) && !is_told(member, result))
      left_out.add(build, member.name, "the offset of its member, which determines it, is missing");
  left_out.report(findings);
  for (auto& [name, type] : result.types)
    std::ranges::sort(type.fields, [](const auto& a, const auto& b) {
      return std::tie(a.offset, a.bit_position, a.name) <
             std::tie(b.offset, b.bit_position, b.name);
    });
  return result;
}

}  // namespace coldtrace::syscall_map
