#pragma once

#include <string_view>

#include "coldtrace/tracefile/etl/kind_counts.hpp"

namespace coldtrace::cli {

// Why events of the kind are decoded so far and no further.
inline std::string_view undecoded_reason(const tracefile::KindCount& count,
                                         tracefile::Decoded decoded) {
  if (decoded == tracefile::Decoded::trailing) return "longer_than_schema";
  if (decoded == tracefile::Decoded::partial) return "shorter_than_schema";
  return to_string(count.kind.undecoded);
}

// Why not all events of the kind are exact; empty where they are.
inline std::string_view undecoded_reason(const tracefile::KindCount& count) {
  using tracefile::Decoded;
  if (count.kind.undecoded != tracefile::Undecoded::none) return to_string(count.kind.undecoded);
  for (const auto decoded : {Decoded::partial, Decoded::trailing})
    if (count.events[static_cast<std::size_t>(decoded)] > 0)
      return undecoded_reason(count, decoded);
  return {};
}

}  // namespace coldtrace::cli
