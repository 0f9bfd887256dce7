#include "cli/hooks/derive/derive_members.hpp"

#include "cli/command/version.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/hooks/table/member_json.hpp"
#include "cli/hooks/table/member_text.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/symbol_file.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/member-derivation/member_choice.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

// A table that has the kernel and its members alone. Nothing where it cannot be read.
std::optional<HookTable> derive(const std::string& path, const MemberDerivation& derivation,
                                const PeOptions& options, const KnownBuilds& known,
                                std::vector<pe::SymbolFile>& symbols, Report& report) {
  auto input = open_pe(path, options, report);
  if (!input) return std::nullopt;
  const auto identity = identify_with_hash(*input, options);
  require_role({path, identity.identity}, syscall_map::ImageRole::kernel);
  const syscall_map::KernelView view{input->image};
  core::Findings findings;
  const std::vector<syscall_map::HookTableSource> sources{
      {{syscall_map::ImageRole::kernel, path, identity.identity, identity.sha256}, &view}};
  const auto builds = known.builds();
  const auto requests =
      syscall_map::request_members(derivation.wanted, builds, input->image.machine());
  auto found = syscall_map::assemble_hook_table(
      sources, symbols, {{}, requests, builds, known.signatures()}, findings);
  HookTable table;
  table.images = std::move(found.images);
  table.members = std::move(found.members);
  syscall_map::keep_shown_members(derivation.wanted, table.members, findings);
  findings.merge(input->findings());
  table.findings = std::move(findings);
  return table;
}

void write_text(Output& output, const std::vector<HookTable>& tables) {
  for (const auto& table : tables) {
    const auto& kernel = table.images.front();
    print(output, "{}: {}\n", printable(kernel.path), to_text({kernel.identity, kernel.sha256}));
    for (const auto& member : table.members) {
      if (member.value)
        print(output, "{} at {}, {}, {} confidence\n", printable(member.name), value_text(member),
              sources_text(member), to_string(member.confidence));
      else
        print(output, "{} not found\n", printable(member.name));
      for (const auto& sentence : member.evidence) print(output, "  {}\n", printable(sentence));
    }
    output.write("\n");
  }
}

void write_json(Output& output, const MemberDerivation& derivation, const PeOptions& options,
                const std::vector<HookTable>& tables) {
  JsonWriter json{output, options.int64};
  json.begin_object().field("schema", "coldtrace.derived-members/1").field("tool", tool_version);
  json.field("member", derivation.wanted).field("derived_from", derivation.known.kernels);
  json.key("images").begin_array();
  for (const auto& table : tables) {
    const auto& kernel = table.images.front();
    json.begin_object().field("path", FileText{kernel.path}).key("identity");
    write_identity(json, {kernel.identity, kernel.sha256});
    json.key("members").begin_array();
    for (const auto& member : table.members) write_member(json, member);
    json.end_array().key("findings");
    write_findings(json, table.findings);
    json.end_object();
  }
  json.end_array().end_object().end_document();
}

}  // namespace

Exit derive_members(const MemberDerivation& derivation, const PeOptions& options) {
  const auto [type, path] = syscall_map::split_member(derivation.wanted);
  if (type.empty() || path.empty())
    throw Failure{fmt::format(
        "{}: with --derive-from, NAME is a member: a structure, a dot and the path to the member",
        derivation.wanted)};
  Output output{options.output};
  Report report{options.findings};
  const KnownBuilds known{derivation.known, options, report};
  auto symbols = open_symbol_files(derivation.pdbs, report);
  HookTableDocument document;
  for (const auto& file : options.files)
    if (auto table = derive(file, derivation, options, known, symbols, report))
      document.builds.push_back(std::move(*table));
  if (document.builds.empty()) return Exit::failure;
  known.require_use(document.builds);
  syscall_map::note_unused_symbols(symbols, document.builds, document.findings);
  for (const auto& table : document.builds) report.read(table.images.front().path, table.findings);
  report.read("--pdb", document.findings);
  if (options.format == "json")
    write_json(output, derivation, options, document.builds);
  else if (options.format == "csv")
    write_hook_table_csv(output, document);
  else
    write_text(output, document.builds);
  output.commit();
  return report.exit();
}

}  // namespace coldtrace::cli
