// LIEF 0.9.0 as a second opinion on good images. Known to be wrong in it: exports by ordinal only
// are lost, forwarders are listed a second time under their target's name.

#include <algorithm>
#include <filesystem>
#include <set>

#include <LIEF/PE.hpp>
#include <LIEF/logging.hpp>
#include <catch2/catch.hpp>

#include "coldtrace/core/file.hpp"
#include "coldtrace/pe/base_relocations.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/import_directory.hpp"

namespace coldtrace {
namespace {

std::vector<std::string> good_images() {
  std::vector<std::string> paths;
  for (const auto* const folder : {COLDTRACE_TEST_IMAGES, COLDTRACE_WINE}) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
      const auto extension = entry.path().extension();
      if (extension == ".dll" || extension == ".exe") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void compare_sections(const pe::Image& image, const LIEF::PE::Binary& theirs) {
  REQUIRE(image.sections().size() == theirs.sections().size());
  for (std::size_t i = 0; i < image.sections().size(); ++i) {
    const auto& section = image.sections()[i];
    const auto& other = theirs.sections()[i];
    CHECK(value(section.address) == other.virtual_address());
    CHECK(section.virtual_size == other.virtual_size());
    CHECK(section.raw_offset == other.pointerto_raw_data());
    CHECK(section.raw_size == other.sizeof_raw_data());
    CHECK(section.characteristics == other.characteristics());
  }
}

void compare_exports(const pe::Image& image, const LIEF::PE::Binary& theirs,
                     core::Findings& findings) {
  const auto directory = pe::read_export_directory(image, findings);
  REQUIRE(directory);
  using Row = std::tuple<std::string, u32, u32>;
  std::set<Row> mine;
  std::set<Row> others;
  std::set<std::string> forwarders;
  if (*directory)
    for (const auto& entry : (*directory)->exports) {
      if (entry.is_forwarder) forwarders.emplace(entry.forwarder);
      if (!entry.name.empty() && !entry.is_forwarder)
        mine.emplace(entry.name, entry.ordinal, value(entry.address));
    }
  std::set<std::string> forwarded;
  if (*directory)
    for (const auto& entry : (*directory)->exports)
      if (entry.is_forwarder) forwarded.emplace(entry.name);
  if (theirs.has_exports())
    for (const auto& entry : theirs.get_export().entries())
      if (!entry.name().empty() && !forwarders.contains(entry.name()) &&
          !forwarded.contains(entry.name()))
        others.emplace(entry.name(), entry.ordinal(), entry.address());
  CHECK(mine == others);
}

void compare_imports(const pe::Image& image, const LIEF::PE::Binary& theirs,
                     core::Findings& findings) {
  using Row = std::tuple<std::string, std::string, u16, u32>;
  std::vector<Row> mine;
  std::vector<Row> others;
  for (const auto& module : pe::read_imports(image, findings))
    for (const auto& function : module.functions)
      mine.emplace_back(module.name, function.name, function.ordinal, value(function.slot));
  if (theirs.has_imports())
    for (const auto& module : theirs.imports()) {
      auto slot = module.import_address_table_rva();
      for (const auto& function : module.entries()) {
        others.emplace_back(module.name(), function.is_ordinal() ? "" : function.name(),
                            function.is_ordinal() ? function.ordinal() : 0, slot);
        slot += image.optional_header().pointer_size();
      }
    }
  CHECK(mine == others);
}

void compare_relocations(const pe::Image& image, const LIEF::PE::Binary& theirs,
                         core::Findings& findings) {
  u64 others = 0;
  if (theirs.has_relocations())
    for (const auto& block : theirs.relocations())
      for (const auto& entry : block.entries())
        if (entry.type() != LIEF::PE::RELOCATIONS_BASE_TYPES::IMAGE_REL_BASED_ABSOLUTE) ++others;
  CHECK(pe::read_base_relocations(image, findings).size() == others);
}

TEST_CASE("LIEF reads good images alike, where it is right") {
  LIEF::Logger::disable();
  const auto images = good_images();
  if (images.empty()) WARN("skipped: no images were built or fetched");
  for (const auto& path : images) {
    CAPTURE(path);
    const auto bytes = core::read_whole_file(path, 64 << 20);
    REQUIRE(bytes);
    core::Findings findings;
    const auto image = pe::Image::open(*bytes, pe::Layout::file, findings);
    REQUIRE(image);
    std::unique_ptr<LIEF::PE::Binary> theirs;
    REQUIRE_NOTHROW(theirs = LIEF::PE::Parser::parse(path));
    REQUIRE(theirs);
    CHECK(static_cast<u16>(theirs->header().machine()) == static_cast<u16>(image->machine()));
    CHECK(theirs->optional_header().imagebase() == image->optional_header().image_base);
    compare_sections(*image, *theirs);
    compare_exports(*image, *theirs, findings);
    compare_imports(*image, *theirs, findings);
    compare_relocations(*image, *theirs, findings);
    CHECK(findings.empty());
  }
}

}  // namespace
}  // namespace coldtrace
