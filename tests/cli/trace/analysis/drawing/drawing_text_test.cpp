#include "cli/trace/analysis/drawing/drawing_text.hpp"

#include <catch2/catch.hpp>

#include "cli/output/text.hpp"

namespace coldtrace::cli {

TEST_CASE("drawings have no characters that XML has not") {
  CHECK(xml_text("a\xef\xbf\xbf<\xef\xbf\xbe&\xef\xbf\xbd\"") ==
        "a\xef\xbf\xbd&lt;\xef\xbf\xbd&amp;\xef\xbf\xbd&quot;");
  CHECK(fitted("thirty bytes fit into the box.") == "thirty bytes fit into the box.");
}

TEST_CASE("what does not fit is cut between characters") {
  CHECK(fitted("0123456789", 9) == "0123…6789");
  CHECK(fitted("0123456789", 8) == "0123…789");
  CHECK(fitted("012ü56789ü4567", 9) == "012…4567");
  CHECK(fitted("0123456789üabc", 9) == "0123…abc");
  CHECK(fitted("ntoskrnl.exe!KeWaitForSingleObject") == "ntoskrnl.exe!Ke…orSingleObject");
  CHECK(fitted_path("\\a\\ntdll.dll", 10) == "…ntdll.dll");
  CHECK(fitted_path("\\aütdll.dll", 10) == "…tdll.dll");
  CHECK(fitted_path("ntdll.dll", 9) == "ntdll.dll");
}

}  // namespace coldtrace::cli
