#include "cli/trace/analysis/drawing/drawing_text.hpp"

#include <catch2/catch.hpp>

namespace coldtrace::cli {

TEST_CASE("drawings have no characters that XML has not") {
  CHECK(xml_text("a\xef\xbf\xbf<\xef\xbf\xbe&\xef\xbf\xbd\"") ==
        "a\xef\xbf\xbd&lt;\xef\xbf\xbd&amp;\xef\xbf\xbd&quot;");
  CHECK(fitted("thirty bytes fit into the box.") == "thirty bytes fit into the box.");
}

}  // namespace coldtrace::cli
