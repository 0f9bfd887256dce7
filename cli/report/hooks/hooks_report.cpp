#include "cli/report/hooks/hooks_report.hpp"

#include <algorithm>
#include <map>

#include "cli/command/text_input.hpp"
#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/report/hooks/documented_builds.hpp"
#include "cli/report/page/html_table.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookService;
using syscall_map::HookTable;

// Columns that can be compared by eye; the tables of the builds have all.
constexpr std::size_t most_columns = 24;

std::string name_of(const HookService& service) {
  return service.names.empty() ? fmt::format("without a name, {:#x}", service.number)
                               : service.names.front();
}

// "x64 10.0.19041.1"
std::string build_of(const HookTable& build) {
  if (build.images.empty()) return "unknown build";
  const auto& identity = build.images.front().identity;
  return fmt::format(
      "{} {}", to_string(identity.machine),
      identity.file_version.value_or(fmt::format("{:#x}", identity.time_date_stamp)));
}

using Numbers = std::map<std::string, std::vector<const HookService*>>;  // by name: of each build

Numbers numbers_of(const std::vector<ShownBuild>& builds) {
  Numbers numbers;
  for (std::size_t i = 0; i < builds.size(); ++i)
    for (const auto& service : builds[i].table.services) {
      auto& row = numbers[name_of(service)];
      row.resize(builds.size());
      row[i] = &service;
    }
  return numbers;
}

void write_matrix(Html& html, const std::vector<ShownBuild>& builds, const Numbers& numbers) {
  const auto shown = std::min(builds.size(), most_columns);
  std::vector<HtmlTable::Column> columns{{"Service"}};
  std::vector<std::string> titles;
  for (const auto& build : builds) titles.push_back(build_of(build.table));
  for (std::size_t i = 0; i < shown; ++i) columns.push_back({titles[i], true});
  HtmlTable table{html, "matrix", "Numbers of services by build", columns};
  for (const auto& [name, row] : numbers) {
    table.text(name);
    for (std::size_t i = 0; i < shown; ++i) row[i] ? table.hex(row[i]->number) : table.nothing();
  }
  table.finish(0);
  if (shown < builds.size())
    html.markup("<p class=\"note\">")
        .text(fmt::format("{} not shown beside the others; all have their own tables below.",
                          counted(builds.size() - shown, "build is", "builds are")))
        .markup("</p>\n");
}

struct Difference {
  u64 added = 0, removed = 0, moved = 0, same = 0;
  std::map<i64, u64> shifts;  // services by how far their number moved
};

Difference difference_of(const Numbers& numbers, std::size_t before, std::size_t after) {
  Difference all;
  for (const auto& [name, row] : numbers) {
    const auto* const a = row[before];
    const auto* const b = row[after];
    if (a == nullptr && b == nullptr) continue;
    if (a == nullptr) {
      ++all.added;
    } else if (b == nullptr) {
      ++all.removed;
    } else if (a->number == b->number) {
      ++all.same;
    } else {
      ++all.moved;
      ++all.shifts[i64{b->number} - i64{a->number}];
    }
  }
  return all;
}

void write_differences(Html& html, const std::vector<ShownBuild>& builds, const Numbers& numbers) {
  if (builds.size() < 2) return;
  HtmlTable table{html,
                  "differences",
                  "Each build against the one before it",
                  {{"Build"},
                   {"Added", true},
                   {"Removed", true},
                   {"Same number", true},
                   {"Renumbered", true},
                   {"Shifts"}}};
  for (std::size_t i = 1; i < builds.size(); ++i) {
    const auto all = difference_of(numbers, i - 1, i);
    std::string shifts;
    for (const auto& [by, count] : all.shifts)
      shifts += fmt::format("{}{} by {:+}", shifts.empty() ? "" : ", ", count, by);
    table.text(build_of(builds[i].table));
    table.count(all.added);
    table.count(all.removed);
    table.count(all.same);
    table.count(all.moved);
    table.text(shifts.empty() ? "-" : shifts);
  }
  table.finish(0);
}

// Whether a tracer can take its place, and what stands in the way.
std::string hook_text(const HookService& service, bool is_map) {
  if (is_map) return "not in a system call map";
  if (!service.target) return "no: its function was not found";
  return service.verified ? "yes" : "yes, by descriptions that no file has confirmed";
}

void write_build(Html& html, const ShownBuild& shown, std::size_t number, u64 top) {
  const auto& build = shown.table;
  for (const auto& image : build.images)
    html.element("p",
                 fmt::format("{}: {}{}", shown.is_map ? "image" : to_string(image.role),
                             image.identity.name.empty() ? "without a name" : image.identity.name,
                             image.sha256 ? ", SHA-256 " + *image.sha256 : ""));
  HtmlTable table{html,
                  fmt::format("build-{}-services", number),
                  "Services and the evidence for them",
                  {{"Service"},
                   {"Number", true},
                   {"Target", true},
                   {"Argument bytes", true},
                   {"Confidence"},
                   {"Can be hooked"},
                   {"Evidence"}}};
  u64 left_out = 0;
  for (const auto& service : build.services) {
    if (table.rows() >= top) {
      ++left_out;
      continue;
    }
    table.text(name_of(service));
    table.hex(service.number);
    service.target ? table.hex(value(*service.target)) : table.nothing();
    table.count_or_nothing(service.argument_bytes);
    shown.is_map ? table.nothing() : table.text(to_string(service.confidence));
    table.text(hook_text(service, shown.is_map));
    table.text(fmt::format("{}", fmt::join(service.evidence, ", ")));
  }
  table.finish(left_out);
  for (const auto& reason : build.context_switch.reasons) html.element("p", reason);
}

std::optional<std::vector<ShownBuild>> read_builds(const GivenInput& input, Report& report) {
  constexpr auto most = syscall_map::largest_hook_table;
  constexpr std::string_view wanted = "a hook table";
  const auto& file = input.path;
  const auto bytes =
      input.piped ? read_unpacked(*input.piped, most, wanted) : read_unpacked(file, most, wanted);
  if (!bytes) {
    report.failed(file, bytes.error());
    return std::nullopt;
  }
  if (!syscall_map::is_hook_table(*bytes)) return read_documented_builds(file, *bytes, report);
  auto tables = decode_hook_table_file(file, *bytes, report);
  if (!tables) return std::nullopt;
  std::vector<ShownBuild> builds;
  for (auto& table : *tables) builds.push_back({std::move(table), false});
  return builds;
}

}  // namespace

bool add_hooks_report(Page& page, const std::vector<GivenInput>& files, u64 top, Report& report) {
  std::vector<ShownBuild> builds;
  for (const auto& file : files) {
    auto read = read_builds(file, report);
    if (!read) continue;
    report.read(file.path, {});
    std::ranges::move(*read, std::back_inserter(builds));
  }
  if (builds.empty()) return false;
  if (page.title.empty()) page.title = "Hook tables";
  const auto numbers = numbers_of(builds);
  const bool all_maps = std::ranges::all_of(builds, &ShownBuild::is_map);
  page.overview.push_back(fmt::format(
      "{} of {} with {} in all.", all_maps ? "System call maps" : "Hook tables",
      counted(builds.size(), "build", "builds"), counted(numbers.size(), "service", "services")));
  auto& html = add_section(page, "services-by-build", "Services by build");
  write_matrix(html, builds, numbers);
  write_differences(html, builds, numbers);
  for (std::size_t i = 0; i < builds.size(); ++i)
    write_build(add_section(page, fmt::format("build-{}", i), build_of(builds[i].table)), builds[i],
                i, top);
  return true;
}

}  // namespace coldtrace::cli
