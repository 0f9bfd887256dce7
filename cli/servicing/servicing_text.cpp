#include <algorithm>
#include <memory>

#include "cli/output/text.hpp"
#include "cli/output/text_size.hpp"
#include "cli/servicing/servicing_view.hpp"

namespace coldtrace::cli {
namespace {

using namespace syscall_map;

std::string text_of(const std::optional<HookRowContent>& content) {
  if (!content) return "not known";
  if (const auto* const number = std::get_if<u64>(&*content)) return fmt::format("{:#x}", *number);
  if (const auto* const below = std::get_if<i64>(&*content)) return fmt::format("{}", *below);
  return printable(std::get<std::string>(*content));
}

std::string values_of(const RowChange& row) {
  const bool is_old = std::all_of(row.values.begin(), row.values.end(),
                                  [](const ChangedValue& value) { return !value.after; });
  std::string text;
  for (const auto& value : row.values) {
    text += text.empty() ? "" : ", ";
    if (row.state == RowState::added)
      text += fmt::format("{} {}", value.member, text_of(value.after));
    else if (is_old)
      text += fmt::format("{} {}", value.member, text_of(value.before));
    else
      text += fmt::format("{} {} -> {}", value.member, text_of(value.before), text_of(value.after));
  }
  return text;
}

// A function at another address, which every build has thousands of.
bool is_address_alone(const RowChange& row) {
  return row.state == RowState::moved &&
         std::all_of(row.values.begin(), row.values.end(), [](const ChangedValue& value) {
           return value.member == "target" || value.member == "rva";
         });
}

void write_rows(Output& output, const syscall_map::RowChanges& changes, bool with_addresses) {
  u64 addresses = 0;
  for (const auto& row : changes.rows) {
    if (row.state == RowState::survives) continue;
    if (!with_addresses && is_address_alone(row)) {
      ++addresses;
      continue;
    }
    print(output, "  {:<8} {} {}: {}{}\n", to_string(row.state), to_string(row.kind),
          row.name.empty() ? "(no name)" : printable(row.name), values_of(row),
          row.reason.empty() ? "" : fmt::format(" ({})", printable(row.reason)));
  }
  if (addresses > 0) print(output, "  {} more differ only in address\n", grouped(addresses));
}

std::string counts_of(const syscall_map::RowChanges& changes) {
  std::string text;
  for (std::size_t i = 0; i < row_states; ++i)
    if (changes.counts[i] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", changes.counts[i],
                          i == 0 ? "survive" : to_string(static_cast<RowState>(i)));
  return text.empty() ? "none" : text;
}

std::string version_of(const pe::Identity& identity) {
  return printable(identity.file_version.value_or("(no version)"));
}

std::string pdb_of(const pe::Identity& identity) {
  if (!identity.pdb) return "none";
  return fmt::format("{} age {}",
                     identity.pdb->guid ? core::to_string(*identity.pdb->guid) : "no GUID",
                     identity.pdb->age);
}

class TextServicing final : public ServicingWriter {
 public:
  explicit TextServicing(Output& output) : output_{output} {}

  void begin(const Servicing& servicing) override {
    write_side('-', servicing.before);
    write_side('+', servicing.after);
  }

  void module(const Servicing& servicing, const ServicedPair& pair,
              const ComparedPair& compared) override {
    const auto& [before, after, by] = pair.modules;
    if (!before || !after) {
      const auto& side = after ? servicing.after : servicing.before;
      const auto& module = side.modules[after ? *after : *before];
      return print(output_, "{} {} {} {}\n", after ? "added  " : "removed", printable(module.place),
                   pe::to_string(module.identity.machine), version_of(module.identity));
    }
    const auto& old_module = servicing.before.modules[*before];
    const auto& new_module = servicing.after.modules[*after];
    print(output_, "changed {}{} {} {} -> {}\n",
          old_module.place == new_module.place ? "" : printable(old_module.place) + " -> ",
          printable(new_module.place), pe::to_string(new_module.identity.machine),
          version_of(old_module.identity), version_of(new_module.identity));
    write_identity(servicing, pair);
    cli::write_module_changes(output_, compared);
  }

  void end(const Servicing& servicing) override {
    print(output_, "{} unchanged, {} changed, {} added, {} removed\n",
          counted(servicing.same, "module", "modules"), grouped(servicing.changed),
          grouped(servicing.added), grouped(servicing.removed));
    for (const auto& build : servicing.builds.builds) {
      print(output_, "\nbuild {} -> {}\n", to_text({build.before.front().identity, std::nullopt}),
            to_text({build.after.front().identity, std::nullopt}));
      print(output_, "  hook offsets: {}\n", counts_of(build.changes));
      write_rows(output_, build.changes, false);
      write_missing("old", build.missing_before);
      write_missing("new", build.missing_after);
    }
    for (const auto& table : servicing.builds.tables) write_table(table);
    for (const auto& [path, missing] : servicing.builds.missing)
      print(output_,
            "\n"
            "table {}: {} of its builds {} not in the old system, and not compared\n",
            printable(path), missing, missing == 1 ? "is" : "are");
  }

 private:
  void write_side(char sign, const ServicedSide& side) {
    print(output_, "{} {}", sign, printable(side.path));
    if (side.is_folder)
      print(output_, ": {}, {}", counted(side.modules.size(), "module", "modules"),
            counted(side.other_files, "other file", "other files"));
    output_.write("\n");
  }

  void write_identity(const Servicing& servicing, const ServicedPair& pair) {
    const auto& before = servicing.before.modules[*pair.modules.before].identity;
    const auto& after = servicing.after.modules[*pair.modules.after].identity;
    print(output_, "  stamp {:#010x} -> {:#010x}, size {:#x} -> {:#x}, file {} -> {}\n",
          before.time_date_stamp, after.time_date_stamp, before.size_of_image, after.size_of_image,
          exact_size_text(servicing.before.files[*pair.modules.before].size),
          exact_size_text(servicing.after.files[*pair.modules.after].size));
    if (pdb_of(before) != pdb_of(after))
      print(output_, "  PDB {} -> {}\n", pdb_of(before), pdb_of(after));
  }

  void write_missing(std::string_view side, const std::vector<std::string>& names) {
    for (const auto& name : names)
      print(output_, "  missing  member {}: no given file shows it for the {} kernel\n",
            printable(name), side);
  }

  void write_table(const ServicedTable& table) {
    print(output_, "\ntable {}, of {}: {}\n", printable(table.path), to_text(table.kernel),
          counts_of(table.changes));
    print(output_, "  kernel {} -> {}\n", printable(table.path_before),
          printable(table.path_after.value_or("none")));
    if (table.covered) output_.write("  it already has the new build\n");
    write_rows(output_, table.changes, true);
  }

  Output& output_;
};

}  // namespace

std::unique_ptr<ServicingWriter> make_servicing_text(Output& output) {
  return std::make_unique<TextServicing>(output);
}

}  // namespace coldtrace::cli
