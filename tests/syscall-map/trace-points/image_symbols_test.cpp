#include "coldtrace/syscall-map/trace-points/image_symbols.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/pdb_file.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/temporary_directory.hpp"

namespace coldtrace {
namespace {

using syscall_map::ImageSymbols;

// An image and the symbol files that are given with it.
class Given {
 public:
  Given() : built_{fixtures::build_pe()} {
    auto image = pe::Image::open(built_.bytes, {}, findings);
    REQUIRE(image);
    image_.emplace(std::move(*image));
    identity.machine = image_->machine();
    const fixtures::PdbSpec spec;
    identity.pdb = pe::PdbReference{"a.pdb", spec.guid, std::nullopt, spec.age};
    findings = {};
  }

  Given& add(std::string_view name, std::vector<fixtures::PdbPublic> publics, u32 age_more = 0) {
    fixtures::PdbSpec spec;
    spec.sections = {{".text", 0x1000, 0x100}};
    spec.publics = std::move(publics);
    spec.age += age_more;
    const auto built = fixtures::build_pdb(spec);
    auto file = pe::SymbolFile::open(directory_.write(name, core::to_chars(built.view())));
    REQUIRE(file);
    files_.push_back(std::move(*file));
    return *this;
  }

  ImageSymbols open() { return ImageSymbols{std::move(files_)}; }
  const pe::Image& image() const { return *image_; }
  std::string path(std::string_view name) const { return directory_.path(name); }

  pe::Identity identity{};
  core::Findings findings;

 private:
  fixtures::TemporaryDirectory directory_;
  fixtures::PeImage built_;
  std::optional<pe::Image> image_;
  std::vector<pe::SymbolFile> files_;
};

TEST_CASE("an image has the symbols of the files that were made with it") {
  Given given;
  auto symbols = given.add("other.pdb", {{"KiSwapContext", 1, 0x20}}, 1)
                     .add("mine.pdb", {{"KiSwapContext", 1, 0x10}, {"nowhere", 0, 4, 0}})
                     .open();
  const auto found = symbols.find(given.image(), given.identity, "KiSwapContext", given.findings);
  REQUIRE(found);
  CHECK(found->name == "KiSwapContext");
  CHECK(found->rva == pe::Rva{0x1010});
  CHECK(symbols.all(given.image(), given.identity).size() == 1);
  CHECK(given.findings.empty());
  symbols.finish();
  CHECK(symbols.files()[0].findings.count("pdb-mismatch") == 1);
  CHECK(symbols.files()[0].matches_image == false);
  CHECK(symbols.files()[1].findings.count("pdb-mismatch") == 0);
  CHECK(symbols.files()[1].matches_image == true);
}

TEST_CASE("of a name that is not there the nearest are told") {
  Given given;
  auto symbols = given.add("mine.pdb", {{"KiSwapContext", 1, 0x10}}).open();
  CHECK_FALSE(symbols.find(given.image(), given.identity, "KiSwapContxt", given.findings));
  REQUIRE(given.findings.all().size() == 1);
  CHECK(given.findings.all()[0].code == "no-match");
  CHECK(given.findings.all()[0].text.find("KiSwapContext") != std::string::npos);
}

TEST_CASE("without a file of the image nothing is found and nothing told") {
  Given given;
  auto symbols = given.add("other.pdb", {{"KiSwapContext", 1, 0x20}}, 1).open();
  CHECK_FALSE(symbols.find(given.image(), given.identity, "KiSwapContext", given.findings));
  CHECK(symbols.all(given.image(), given.identity).empty());
  CHECK(given.findings.empty());
}

TEST_CASE("a name at several places is at none") {
  Given given;
  SECTION("of one file") {
    auto symbols = given.add("mine.pdb", {{"f", 1, 0x10}, {"_f", 1, 0x20}}).open();
    CHECK_FALSE(symbols.find(given.image(), given.identity, "f", given.findings));
    REQUIRE(given.findings.all().size() == 1);
    CHECK(given.findings.all()[0].code == "symbol-ambiguous");
    CHECK(given.findings.all()[0].text ==
          given.path("mine.pdb") + " has 2 public symbols f: f at 0x1010 and _f at 0x1020");
  }
  SECTION("of two files") {
    auto symbols = given.add("a.pdb", {{"f", 1, 0x10}}).add("b.pdb", {{"f", 1, 0x20}}).open();
    CHECK_FALSE(symbols.find(given.image(), given.identity, "f", given.findings));
    REQUIRE(given.findings.all().size() == 1);
    CHECK(given.findings.all()[0].text.ends_with(" of " + given.path("b.pdb")));
    CHECK(symbols.all(given.image(), given.identity).size() == 2);
  }
  SECTION("two files that agree have it once") {
    auto symbols = given.add("a.pdb", {{"f", 1, 0x10}}).add("b.pdb", {{"f", 1, 0x10}}).open();
    CHECK(symbols.find(given.image(), given.identity, "f", given.findings));
    CHECK(symbols.all(given.image(), given.identity).size() == 1);
    CHECK(given.findings.empty());
  }
}

}  // namespace
}  // namespace coldtrace
