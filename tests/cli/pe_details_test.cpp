#include "cli/pe_details.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

TEST_CASE("only the expected object is believed") {
  struct Row {
    const char* why;
    std::string json;
    bool accepted;
  };
  const std::string rest = "\"signature\":null,\"tls\":null,\"resources\":null}";
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  const auto row = GENERATE_COPY(values<Row>({
      {"all absent", "{\"rich_header\":null," + rest, true},
      {"an object", "{\"rich_header\":{\"key\":1}," + rest, true},
      {"nothing", "", false},
      {"no object", "[]", false},
      {"a member is missing", "{" + rest, false},
      {"a member too many", "{\"more\":1,\"rich_header\":null," + rest, false},
      {"a member of another type", "{\"rich_header\":5," + rest, false},
      {"bytes behind the end", "{\"rich_header\":null," + rest + "x", false},
      {"no UTF-8", "{\"rich_header\":{\"key\":\"\xff\"}," + rest, false},
      {"a NUL", std::string("{\"rich_header\":null,\0", 21) + rest, false},
      {"deep enough to overflow a stack", "{\"rich_header\":" + deep, false},
  }));
  CAPTURE(row.why);
  CHECK(cli::is_pe_details(row.json) == row.accepted);
}

}  // namespace
}  // namespace coldtrace
