#include "coldtrace/pe/image_tables.hpp"

#include <type_traits>

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using pe::ImageTables;
using pe::Rva;
using test::Opened;

// A call may be given an image; what is kept must not be of one that ends with the statement.
static_assert(std::is_convertible_v<const pe::Image&, ImageTables>);
static_assert(!std::is_constructible_v<ImageTables, pe::Image&&>);

fixtures::PeSpec spec_of_tables() {
  auto spec = test::full_spec();
  spec.relocations = {{0x1000, 3}, {0x1ffc, 10}};
  spec.exports = fixtures::PeExports{};
  spec.exports->entries = {{"Second", 2}, {"First", 1}, {"", 3}, {"Away", 4, 0x1000, "OTHER.Name"}};
  return spec;
}

TEST_CASE("the tables of an image are those that their readers give, each read once") {
  Opened image{spec_of_tables()};
  REQUIRE(image);
  const ImageTables tables{*image};
  CHECK(&tables.image() == &*image);

  core::Findings findings;
  const auto exports = pe::read_export_directory(*image, findings);
  REQUIRE((exports && *exports));
  const auto& read = tables.exports();
  CHECK(&read == &tables.exports());
  CHECK(read.directory.module_name == (*exports)->module_name);
  REQUIRE(read.directory.exports.size() == (*exports)->exports.size());
  for (std::size_t i = 0; i < read.directory.exports.size(); ++i) {
    const auto& one = read.directory.exports[i];
    const auto& other = (*exports)->exports[i];
    CHECK(one.name.data() == other.name.data());
    CHECK(one.ordinal == other.ordinal);
    CHECK(one.address == other.address);
    // By name: neither forwarders nor exports without one.
    const auto place = tables.find_export(one.name);
    CHECK(place ==
          (one.name.empty() || one.is_forwarder ? std::nullopt : std::optional{one.address}));
  }
  CHECK(tables.export_places().size() == 2);
  CHECK_FALSE(tables.find_export("first"));

  const auto relocations = pe::read_base_relocations(*image, findings);
  CHECK(&tables.relocations() == &tables.relocations());
  REQUIRE(tables.relocations().entries.size() == relocations.size());
  CHECK(relocations.size() == 2);
  CHECK(tables.relocations().entries[1].address == relocations[1].address);
  CHECK(&tables.functions() == &tables.functions());
  CHECK(tables.functions().size() == pe::count_function_ranges(*image, findings));
}

TEST_CASE("a table that cannot be read is a finding of that table, told once") {
  auto spec = spec_of_tables();
  auto built = fixtures::build_pe(spec);
  Opened whole{built};
  const auto location = whole->directory(pe::Directory::exports).address;
  const auto offset = whole->addresses().to_offset(location).value();
  // What is left of the file ends within the directory.
  Opened image{built.view().first(offset + 8)};
  REQUIRE(image);
  const ImageTables tables{*image};
  for (int i = 0; i < 2; ++i) {
    CHECK(tables.exports().directory.exports.empty());
    CHECK(test::codes(tables.exports().findings) == "export-directory");
    CHECK(tables.exports().findings.count("export-directory") == 1);
    REQUIRE(tables.exports().error);
    CHECK(tables.exports().error->fault == core::Fault::out_of_bounds);
    CHECK(tables.exports().error->offset == offset);
    CHECK(tables.export_places().empty());
  }
}

TEST_CASE("an image without tables has none") {
  Opened image{fixtures::PeSpec{}};
  REQUIRE(image);
  const ImageTables tables{*image};
  CHECK(tables.exports().directory.exports.empty());
  CHECK(tables.exports().findings.empty());
  CHECK_FALSE(tables.exports().error);
  CHECK(tables.relocations().entries.empty());
  CHECK(tables.functions().empty());
}

}  // namespace
}  // namespace coldtrace
