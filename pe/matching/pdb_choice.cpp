#include "coldtrace/pdb/pdb_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/pdb/isf_table.hpp"

namespace coldtrace::pe {
namespace {

constexpr std::size_t most_candidates = 1024;

// The name of the folder that a file lies in; empty where the path has none.
std::string_view folder_name(std::string_view path) {
  const auto end = path.rfind('/');
  return end == std::string_view::npos ? std::string_view{} : core::file_name(path.substr(0, end));
}

}  // namespace

std::vector<std::string> pdb_file_names(const PdbReference& wanted) {
  std::vector<std::string> names;
  const std::string pdb{core::file_name(wanted.name)};
  names.push_back(pdb);
  for (const auto packing : packed_pdb_endings) names.push_back(fmt::format("{}{}", pdb, packing));
  if (!wanted.guid) return names;
  const auto table = fmt::format("{}-{}.json", to_plain_text(*wanted.guid), wanted.age);
  for (const auto* const packing : {"", ".xz", ".gz", ".bz2", ".zst"})
    names.push_back(table + packing);
  return names;
}

void sort_pdb_candidates(std::vector<std::string>& paths, const PdbReference& wanted) {
  // "1EB9FACB04EA273BB24BA52C8B8D336A1"
  const auto folder = core::to_lower(symbol_server_key(wanted));
  std::stable_partition(paths.begin(), paths.end(), [&](const std::string& path) {
    return core::to_lower(folder_name(path)) == folder;
  });
  paths.resize(std::min(paths.size(), most_candidates));
}

void PdbChoice::give(const std::string& path, const PdbReference& pdb, core::Findings& findings) {
  const auto known = std::find_if(given_.begin(), given_.end(),
                                  [&](const Given& other) { return same_pdb(other.pdb, pdb); });
  if (known != given_.end())
    findings.info("image-twice", std::nullopt, "{} has the GUID and age of {}", path, known->path);
  else
    given_.push_back({path, pdb});
}

std::optional<std::string> PdbChoice::find(const PdbReference& wanted,
                                           std::span<const std::string> candidates,
                                           const Identify& identify, core::Findings& findings) {
  for (auto& given : given_)
    if (same_pdb(wanted, given.pdb)) {
      given.matched = true;
      return given.path;
    }
  std::string other;
  bool expected = false;
  const auto [first, last] = expected_.equal_range(core::to_lower(core::file_name(wanted.name)));
  for (const auto& path : candidates) {
    const auto& found = identify(path);
    if (!found) continue;
    if (same_pdb(wanted, *found)) return path;
    expected |=
        std::any_of(first, last, [&](const auto& image) { return same_pdb(image.second, *found); });
    if (other.empty()) other = fmt::format("{} has {}", path, describe_build(*found));
  }
  if (!other.empty() && !expected)
    findings.warning("symbols-other-build", std::nullopt,
                     "{} and is not used: the image asks for {}", other, describe_build(wanted));
  return std::nullopt;
}

void PdbChoice::expect(const PdbReference& wanted) {
  expected_.emplace(core::to_lower(core::file_name(wanted.name)), wanted);
}

void PdbChoice::note_asked_for(const PdbReference& wanted) {
  for (auto& given : given_) given.matched |= same_pdb(wanted, given.pdb);
}

bool PdbChoice::all_asked_for() const {
  return std::all_of(given_.begin(), given_.end(),
                     [](const Given& given) { return given.matched; });
}

void PdbChoice::report_unmatched(core::Findings& findings) const {
  for (const auto& given : given_)
    if (!given.matched)
      findings.warning("symbols-unmatched", std::nullopt,
                       "{} belongs to no image: none is known to ask for {}", given.path,
                       describe_build(given.pdb));
}

}  // namespace coldtrace::pe
