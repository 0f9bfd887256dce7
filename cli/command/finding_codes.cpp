#include "cli/command/finding_codes.hpp"

#include <algorithm>

namespace coldtrace::cli {
namespace {

constexpr FindingCode codes[] = {
#define FINDING(code, severity, meaning) {code, severity, meaning},
#include "cli/command/finding_codes.inc"
#undef FINDING
};

}  // namespace

std::span<const FindingCode> finding_codes() {
  return codes;
}

bool is_finding_code(std::string_view code) {
  return std::ranges::find(codes, code, &FindingCode::code) != std::end(codes);
}

}  // namespace coldtrace::cli
