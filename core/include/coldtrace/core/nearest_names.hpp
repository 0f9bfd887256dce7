#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coldtrace::core {

// Those of `names` that someone who wrote `wanted` may have meant, the nearest first, at most
// `count`: few insertions, deletions, changes and swaps of neighbours apart (optimal string
// alignment distance, at most a third of the length), or one contained in the other. ASCII case,
// '*' and '?' do not count, and `wanted` itself is not among them. Only the first 64 characters of
// a name are compared.
[[nodiscard]] std::vector<std::string_view> nearest_names(std::string_view wanted,
                                                          std::span<const std::string_view> names,
                                                          std::size_t count = 3);

// "; did you mean 'ONE', 'ANOTHER' or 'A THIRD'?", the end of a message about a name that is
// unknown; empty where nothing is meant.
[[nodiscard]] std::string did_you_mean(std::span<const std::string> meant);

// The same with the one of `names` that is nearest to `wanted`, or else to what is in front of the
// first dot of `wanted`; `prefix` is what is written in front of names.
[[nodiscard]] std::string did_you_mean(std::string_view wanted,
                                       std::span<const std::string_view> names,
                                       std::string_view prefix = {});

}  // namespace coldtrace::core
