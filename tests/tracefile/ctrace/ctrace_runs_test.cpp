#include "tracefile/ctrace/ctrace_runs.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::tracefile;

TEST_CASE(
    "processors of several boots are numbered one behind the other, while there are numbers") {
  struct Row {
    const char* why;
    u32 last;  // processors of the last file
    bool fits;
  };
  const auto row = GENERATE(values<Row>({
      {"as many as there are numbers", 0x4000, true},
      {"one more", 0x4001, false},
      {"more than there are numbers without others", 0xffff, false},
  }));
  CAPTURE(row.why);
  std::vector<CtracePart> parts;
  for (const u32 processors : {0x8000U, 0x4000U, row.last}) {
    auto& part = parts.emplace_back();
    part.header.boot_id = static_cast<u32>(parts.size());
    part.header.processors = processors;
  }
  core::Findings findings;
  CHECK(number_runs(parts, true, findings).has_value() == !row.fits);
  CHECK(parts[1].first_processor == 0x8000);
  if (row.fits) CHECK(parts[2].first_processor == 0xc000);
  CHECK(number_runs(parts, false, findings));
}
