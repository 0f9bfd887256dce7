#include "pe/image/layout_evidence.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using pe::Directory;
using test::Opened;

pe::LayoutEvidence evidence_of(const pe::Image& image, Directory only) {
  auto optional = image.optional_header();
  for (std::size_t i = 0; i < optional.directories.size(); ++i)
    if (i != static_cast<std::size_t>(only)) optional.directories[i] = {};
  return pe::find_layout_evidence(image.file(), image.machine(), optional, image.sections());
}

TEST_CASE("each table alone shows in which layout an image is") {
  auto spec = test::full_spec();
  spec.code_view = fixtures::PeCodeView{};
  const auto built = fixtures::build_pe(spec);
  Opened stored{built};
  Opened loaded{fixtures::as_loaded(built), pe::Layout::memory};
  REQUIRE(stored);
  REQUIRE(loaded);
  for (const auto table : {Directory::exports, Directory::imports, Directory::resources,
                           Directory::exceptions, Directory::base_relocations, Directory::debug}) {
    CAPTURE(static_cast<int>(table));
    const auto as_file = evidence_of(*stored, table);
    CHECK(as_file.file == 1);
    CHECK(as_file.memory == 0);
    const auto as_memory = evidence_of(*loaded, table);
    CHECK(as_memory.file == 0);
    CHECK(as_memory.memory == 1);
  }
  // A descriptor without slots shows nothing, and neither does a table of another kind.
  auto without_slots = built;
  without_slots.patch<u32>(built.directories[1].offset + 16, 0);
  CHECK(evidence_of(*Opened{without_slots}, Directory::imports).file == 0);
  const auto other = evidence_of(*stored, Directory::load_config);
  CHECK(other.file + other.memory == 0);
}

}  // namespace
}  // namespace coldtrace
