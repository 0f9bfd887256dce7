#include "coldtrace/pdb/image_choice.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/pdb/pdb_choice.hpp"

namespace coldtrace::pe {
namespace {

constexpr std::size_t most_candidates = 1024;

bool same_name(std::string_view one, std::string_view other) {
  return core::equal_ignoring_case(core::file_name(one), core::file_name(other));
}

// Of an identity or what is loaded.
std::string text_of(const auto& file) {
  return fmt::format("stamp {:#010x}, size {:#x}, checksum {:#x}{}", file.time_date_stamp,
                     file.size_of_image, file.checksum,
                     file.pdb ? ", a PDB with " + describe_build(*file.pdb) : std::string{});
}

// A file of the image's name that is not taken, and why not.
struct Rejected {
  std::string path;
  Likeness likeness;
  std::string identity;
};

void report_rejected(const Rejected& file, std::string_view name, const LoadedFile& loaded,
                     core::Findings& findings) {
  const auto shown = core::printable(core::file_name(name));
  if (file.likeness == Likeness::other)
    findings.warning("symbols-other-build", std::nullopt,
                     "{} is not the {} of the trace and is not used: it has {}, the trace's has {}",
                     file.path, shown, file.identity, text_of(loaded));
  else
    findings.warning("symbols-unproved", std::nullopt,
                     "{} is not used: the trace does not say which build of {} it has", file.path,
                     shown);
}

}  // namespace

void ImageChoice::give(const std::string& path, const Identity& identity,
                       core::Findings& findings) {
  const LoadedFile same{identity.time_date_stamp, identity.checksum, identity.size_of_image,
                        identity.pdb};
  const auto known = std::find_if(given_.begin(), given_.end(), [&](const Given& other) {
    return compare(other.identity, same) == Likeness::same;
  });
  if (known != given_.end())
    findings.info("image-twice", std::nullopt, "{} is the same build as {}", path, known->path);
  else
    given_.push_back({path, identity});
}

std::optional<ImageChoice::Chosen> ImageChoice::find(std::string_view name,
                                                     const LoadedFile& loaded,
                                                     std::span<const std::string> candidates,
                                                     const Identify& identify,
                                                     core::Findings& findings) {
  std::optional<Rejected> rejected;
  const auto is_it = [&](const std::string& path, const Identity& identity, bool has_name) {
    const auto likeness = compare(identity, loaded);
    if (likeness == Likeness::same) return true;
    if (!rejected && has_name) rejected = {path, likeness, text_of(identity)};
    return false;
  };
  const auto choose = [&](const std::string& path, const Identity& identity) {
    return Chosen{path, identity.pdb ? identity.pdb : loaded.pdb};
  };
  for (auto& given : given_)
    if (is_it(given.path, given.identity, same_name(given.path, name))) {
      given.matched = true;
      return choose(given.path, given.identity);
    }
  for (const auto& path : candidates.first(std::min(candidates.size(), most_candidates)))
    if (const auto& identity = identify(path); identity && is_it(path, *identity, true))
      return choose(path, *identity);
  if (rejected) report_rejected(*rejected, name, loaded, findings);
  return std::nullopt;
}

bool ImageChoice::all_matched() const {
  return std::all_of(given_.begin(), given_.end(),
                     [](const Given& given) { return given.matched; });
}

void ImageChoice::report_unmatched(core::Findings& findings) const {
  for (const auto& given : given_)
    if (!given.matched)
      findings.warning("symbols-unmatched", std::nullopt,
                       "{} is not an image of the trace: none is known to have {}", given.path,
                       text_of(given.identity));
}

std::vector<PdbReference> ImageChoice::pdbs() const {
  std::vector<PdbReference> all;
  for (const auto& given : given_)
    if (given.identity.pdb) all.push_back(*given.identity.pdb);
  return all;
}

}  // namespace coldtrace::pe
