#include "cli/findings/finding_document.hpp"

#include <fmt/format.h>

namespace coldtrace::cli {
namespace {

constexpr std::string_view introduction =
    R"(# Findings

What is odd, damaged, lost or contradictory in an input is a finding: a code that does not change, a severity, the
offset where it begins if there is one, and a sentence with the numbers of the case. Each is one line on standard error,
and an element of `findings` in JSON. A `warning` gives exit status 1, unless `--tolerate CODE` is given; `info` is what
healthy files have too, and gives 1 only with `--fail-on CODE` ([common-options.md](commands/common-options.md)).

`coldtrace findings` lists the codes, `coldtrace findings CODE...` shows their entries in this document, and
`--format markdown` writes the document. `--format json` follows `schema/findings.schema.json`: `schema`, `tool` and
`codes`, which has `code`, `severity`, `meaning` (one line), `cause` (why it is reported) and `advice` (what to do).
)";

}  // namespace

std::string finding_document(const std::vector<FindingPage>& pages) {
  std::string text{introduction};
  for (const auto& [finding, cause, advice] : pages)
    text += fmt::format("\n## {}\n\n`{}`: {}.\n\n{}\n\n**What to do:** {}\n", finding.code,
                        finding.severity, finding.meaning, cause, advice);
  return text;
}

}  // namespace coldtrace::cli
