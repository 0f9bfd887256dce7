#include <algorithm>
#include <array>
#include <map>

#include "cli/hooks/export/hook_export_options.hpp"
#include "cli/pe/types/isf_json.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/isf_names.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/table-exports/member_symbols.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::MemberSymbols;

// Integers by their size in bytes.
std::map<u32, pe::IsfBase> integers(std::array<u32, 4> indexes) {
  std::map<u32, pe::IsfBase> bases;
  for (const u32 index : indexes) {
    const auto base = pe::isf_base_of(*pe::find_simple_type(index));
    bases.emplace(base.size, base);
  }
  return bases;
}

class Writer {
 public:
  explicit Writer(JsonWriter& json) : json_{json} {}

  void write_types(const MemberSymbols& symbols) {
    json_.key("base_types").begin_object();
    for (const auto& [size, base] : bases_) write_definition(base);
    for (const auto& [size, base] : signed_bases_)
      if (std::ranges::any_of(symbols.enumerations, [bytes = size](const auto& one) {
            return one.second.size == bytes && one.second.is_signed();
          }))
        write_definition(base);
    json_.end_object().key("user_types").begin_object();
    for (const auto& [name, type] : symbols.types) {
      json_.key(std::string_view{name}).begin_object().field("kind", "struct");
      json_.field("size", type.size).key("fields").begin_object();
      for (const auto& field : type.fields) write_field(field);
      json_.end_object().end_object();
    }
    json_.end_object().key("enums").begin_object();
    for (const auto& [name, enumeration] : symbols.enumerations)
      write_enumeration(name, enumeration);
    json_.end_object();
  }

 private:
  void write_definition(const pe::IsfBase& base) {
    json_.key(base.name).object("size", base.size, "signed", base.is_signed, "kind", base.kind,
                                "endian", std::string_view{"little"});
  }

  void write_enumeration(const std::string& name, const MemberSymbols::Enumeration& enumeration) {
    const auto& bases = enumeration.is_signed() ? signed_bases_ : bases_;
    json_.key(std::string_view{name}).begin_object().field("size", enumeration.size);
    json_.field("base", bases.at(enumeration.size).name).key("constants").begin_object();
    for (const auto& [constant_name, constant] : enumeration.constants) {
      json_.key(std::string_view{constant_name});
      constant.negative ? json_.value(static_cast<i64>(constant.value))
                        : json_.value(constant.value);
    }
    json_.end_object().end_object();
  }

  void write_field(const MemberSymbols::Field& field) {
    json_.key(std::string_view{field.name}).begin_object().field("offset", field.offset);
    json_.key("type").begin_object();
    const auto integer = bases_.find(field.size);
    if (integer == bases_.end()) {
      json_.field("kind", "array").field("count", field.size).key("subtype");
      write_base(bases_.at(1).name);
    } else if (field.bit_length) {
      json_.field("kind", "bitfield").field("bit_position", field.bit_position.value_or(0));
      json_.field("bit_length", *field.bit_length).key("type");
      write_base(integer->second.name);
    } else {
      json_.field("kind", "base").field("name", integer->second.name);
    }
    json_.end_object().end_object();
  }

  void write_base(std::string_view name) {
    json_.begin_object().field("kind", "base").field("name", name).end_object();
  }

  JsonWriter& json_;
  // What a member means the tables do not say: it is unsigned.
  std::map<u32, pe::IsfBase> bases_ = integers({0x20, 0x21, 0x22, 0x23});
  std::map<u32, pe::IsfBase> signed_bases_ = integers({0x10, 0x11, 0x12, 0x13});
};

Exit run_export_isf(const HookExportOptions& options) {
  Report report{options.findings};
  const auto builds = read_hook_export_tables(options, report);
  if (report.exit() == Exit::failure) return Exit::failure;
  if (builds.size() != 1)
    throw Failure{
        fmt::format("a symbol table is for one kernel, but the tables have {}", builds.size())};
  const auto& build = builds.front();
  const auto& identity = syscall_map::find_kernel(build)->identity;
  if (!identity.pdb || !identity.pdb->guid)
    throw Failure{"the kernel names no PDB, but Volatility finds symbol tables by its GUID"};
  if (build.members.empty())
    throw Failure{
        "the table was made without a member list and has nothing for a symbol table; make it with "
        "--members and the PDB of the kernel"};
  core::Findings findings;
  const auto symbols = syscall_map::make_member_symbols(build, findings);
  require_export_rows(
      !symbols.types.empty() || !symbols.enumerations.empty() || !symbols.symbols.empty(),
      findings);
  const pe::PdbIdentity pdb{
      {}, *identity.pdb->guid, identity.pdb->age, static_cast<u16>(identity.machine)};
  const auto name = core::to_valid_utf8(identity.pdb->name);
  Output output{options.output};
  JsonWriter json{output, Int64::number};
  json.begin_object();
  write_isf_metadata(json, pdb, std::string_view{name}.substr(name.find_last_of("\\/") + 1),
                     std::nullopt);
  Writer{json}.write_types(symbols);
  json.key("symbols").begin_object();
  for (const auto& [symbol, address] : symbols.symbols)
    json.key(std::string_view{symbol}).object("address", address);
  json.end_object().end_object().end_document();
  output.commit();
  report.read("isf", findings);
  return report.exit();
}

}  // namespace

void add_hooks_export_isf(CLI::App& app, Exit& exit) {
  add_command<HookExportOptions>(
      app, exit,
      {"isf", "Symbol table for Volatility 3 with the values of one kernel's member lists",
       "  coldtrace hooks export isf kernel.hooktab -o kernel.json\n", hook_export_exit_status},
      {"json"},
      [](Command& command, HookExportOptions& options) {
        add_hook_export_options(command, options);
        command.remove_option("--int64");  // the format's integers are numbers
      },
      run_export_isf);
}

}  // namespace coldtrace::cli
