#include <catch2/catch.hpp>

#include "cli/pe/pe_details_helper.hpp"

namespace coldtrace {
namespace {

TEST_CASE("only the expected object is believed") {
  struct Row {
    const char* why;
    std::string json;
    bool accepted;
  };
  const std::string rest = "\"refused\":false,\"tls\":null,\"resources\":null}";
  const std::string signature =
      "{\"problem\":null,\"bytes_behind\":0,\"behind_is_zero\":true,\"digest_algorithm\":\"sha1\","
      "\"digest\":\"00\"}";
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  const auto row = GENERATE_COPY(values<Row>({
      {"all absent", "{\"signatures\":[]," + rest, true},
      {"a signature", "{\"signatures\":[" + signature + "]," + rest, true},
      {"an object", "{\"signatures\":[],\"refused\":true,\"tls\":{\"a\":1},\"resources\":null}",
       true},
      {"nothing", "", false},
      {"no object", "[]", false},
      {"a member is missing", "{" + rest, false},
      {"a member too many", "{\"more\":1,\"signatures\":[]," + rest, false},
      {"a member of another type", "{\"signatures\":5," + rest, false},
      {"a signature of another type", "{\"signatures\":[5]," + rest, false},
      {"a signature without a digest", "{\"signatures\":[{\"problem\":null}]," + rest, false},
      {"a digest of another type",
       "{\"signatures\":[{\"problem\":null,\"digest_algorithm\":1,\"digest\":2}]," + rest, false},
      {"bytes behind of another type",
       "{\"signatures\":[{\"problem\":null,\"bytes_behind\":-1,\"behind_is_zero\":true,"
       "\"digest_algorithm\":\"sha1\",\"digest\":\"00\"}]," +
           rest,
       false},
      {"bytes behind that are not said to be zeros or not",
       "{\"signatures\":[{\"problem\":null,\"bytes_behind\":1,\"behind_is_zero\":null,"
       "\"digest_algorithm\":\"sha1\",\"digest\":\"00\"}]," +
           rest,
       false},
      {"bytes behind the end", "{\"signatures\":[]," + rest + "x", false},
      {"no UTF-8", "{\"signatures\":[\"\xff\"]," + rest, false},
      {"a NUL", std::string("{\"signatures\":[],\0", 18) + rest, false},
      {"deep enough to overflow a stack", "{\"signatures\":" + deep, false},
  }));
  CAPTURE(row.why);
  CHECK(cli::is_helper_answer(row.json) == row.accepted);
}

}  // namespace
}  // namespace coldtrace
