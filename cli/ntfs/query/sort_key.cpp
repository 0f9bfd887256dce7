#include "cli/ntfs/query/sort_key.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/command.hpp"
#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::string_view descending = ":desc";

std::strong_ordering compare_texts(std::string_view one, std::string_view other) {
  const auto byte = [](char c) { return static_cast<unsigned char>(c); };
  const auto folded = std::lexicographical_compare_three_way(
      one.begin(), one.end(), other.begin(), other.end(),
      [&](char a, char b) { return byte(core::to_lower(a)) <=> byte(core::to_lower(b)); });
  return folded != 0 ? folded : one <=> other;
}

std::strong_ordering compare(const SortKey& one, const SortKey& other) {
  if (one.number != other.number) return one.number <=> other.number;
  return compare_texts(one.text, other.text);
}

}  // namespace

SortOrder read_sort_order(std::string_view text) {
  SortOrder order{};
  auto name = text;
  if (name.ends_with(descending)) {
    order.descending = true;
    name.remove_suffix(descending.size());
  }
  const auto member = ntfs::find_file_member(name);
  if (!member) {
    const auto colon = name.rfind(':');
    if (colon != name.npos && ntfs::find_file_member(name.substr(0, colon)))
      throw Failure{
          fmt::format("--sort: '{}' is not a sort order; '{}{}' sorts the other way round",
                      name.substr(colon + 1), name.substr(0, colon), descending)};
    throw Failure{fmt::format("--sort: no member '{}'{} (MEMBER:desc sorts the other way round)",
                              name, core::did_you_mean(name, ntfs::file_member_names()))};
  }
  order.member = *member;
  return order;
}

SortKey SortKey::of(const SortOrder& order, ntfs::FileValues& values) {
  SortKey key;
  values.each(order.member, [&](const where::Subject& value) {
    SortKey other{.missing = false};
    if (value.number) other.number = value.number->magnitude;
    if (value.time) other.number = value.time->ticks;
    if (value.boolean) other.number = *value.boolean ? 1 : 0;
    if (value.guid) other.text = core::to_string(*value.guid);
    if (value.text) other.text = *value.text;
    if (is_before(order, other, key)) key = std::move(other);
  });
  return key;
}

bool is_before(const SortOrder& order, const SortKey& one, const SortKey& other) {
  if (one.missing || other.missing) return other.missing && !one.missing;
  const auto ordering = compare(one, other);
  return order.descending ? ordering > 0 : ordering < 0;
}

}  // namespace coldtrace::cli
