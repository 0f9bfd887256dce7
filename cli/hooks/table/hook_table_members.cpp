#include <fmt/format.h>

#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/hooks/table/member_text.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::MemberKind;
using syscall_map::MemberValue;

std::string number_cell(const MemberValue& member) {
  if (!member.value) return {};
  return member.negative ? fmt::format("{}", static_cast<i64>(*member.value))
                         : fmt::format("{}", *member.value);
}

std::string pdb_cell(const pe::Identity& identity) {
  if (!identity.pdb || !identity.pdb->guid) return {};
  return fmt::format("{}-{}", core::to_string(*identity.pdb->guid), identity.pdb->age);
}

void write_row(Output& output, const pe::Identity& identity, const MemberValue& member) {
  print(output, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(identity.name),
        csv_field(identity.file_version.value_or("")), pe::to_string(identity.machine),
        identity.time_date_stamp, identity.size_of_image, pdb_cell(identity),
        csv_field(member.name), to_string(member.kind), csv_field(member.expression),
        number_cell(member), cell(member.size), cell(member.bit_position), cell(member.bit_length),
        member.optional ? "true" : "false", member.value ? sources_text(member) : std::string{},
        member.value ? to_string(member.confidence) : std::string_view{});
}

}  // namespace

std::string sources_text(const MemberValue& member) {
  std::string text;
  const auto add = [&](bool is, std::string_view source) {
    if (!is) return;
    if (!text.empty()) text += '+';
    text += source;
  };
  add(member.from_pdb, "pdb");
  add(member.from_code, "code");
  add(member.inferred, "inferred");
  return text.empty() ? "-" : text;
}

std::string value_text(const MemberValue& member) {
  if (!member.value) return "-";
  if (member.kind == MemberKind::constant && member.negative)
    return fmt::format("{}", static_cast<i64>(*member.value));
  return fmt::format("{:#x}", *member.value);
}

void write_hook_table_csv(Output& output, const HookTableDocument& document) {
  output.write(
      "image,file_version,machine,time_date_stamp,size_of_image,pdb,name,kind,expression,value,"
      "size,bit_position,bit_length,optional,source,confidence\n");
  for (const auto& build : document.builds)
    for (const auto& member : build.members)
      write_row(output, syscall_map::find_kernel(build)->identity, member);
}

}  // namespace coldtrace::cli
