#include "coldtrace/pdb/member_regions.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace coldtrace::pe {
namespace {

using Numbers = std::span<const std::size_t>;

// More members, or unions in unions, than structures of compilers have.
constexpr std::size_t most_members = 8192;
constexpr u32 most_levels = 16;
constexpr std::ptrdiff_t most_rows = 64;  // that are searched for room

class Builder {
 public:
  explicit Builder(const std::vector<PlacedMember>& members) : members_{members} {}

  // Nothing where unions are nested too deep, or members go back behind what is laid out.
  std::optional<Region> sequence(Numbers numbers, u64 base, u32 level) {
    if (level == most_levels) return std::nullopt;
    Region region{Region::Kind::sequence, base, 0, {}, {}};
    const auto last = last_of_each_start(numbers);
    u64 end = base;
    for (std::size_t at = 0; at < numbers.size();) {
      const auto next = end_of_region(numbers, at, last);
      auto part = part_of(numbers.subspan(at, next - at), level);
      if (!part || part->offset < end) return std::nullopt;
      end = part->offset + part->size;
      at = next;
      region.parts.push_back(std::move(*part));
    }
    region.size = end - base;
    return region;
  }

 private:
  const PlacedMember& member(std::size_t number) const { return members_[number]; }

  bool begins_alike(std::size_t a, std::size_t b) const {
    return member(a).offset == member(b).offset && member(a).bit_position == member(b).bit_position;
  }
  bool continues_bits(std::size_t before, std::size_t number) const {
    return member(before).is_bit_field() && member(number).is_bit_field() &&
           member(before).offset == member(number).offset &&
           member(before).size == member(number).size &&
           member(number).bit_position >= member(before).bit_position + member(before).bit_length;
  }

  // The last of those that begin at one bit.
  using Starts = std::map<std::pair<u64, u8>, std::size_t>;
  Starts last_of_each_start(Numbers numbers) const {
    Starts last;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      last[{member(numbers[i]).offset, member(numbers[i]).bit_position}] = i;
    return last;
  }

  // Where the region that begins with the member at `at` is left: behind its last alternative, and
  // what overlaps it.
  std::size_t end_of_region(Numbers numbers, std::size_t at, const Starts& last) const {
    const auto& first = member(numbers[at]);
    const auto last_alternative = last.at({first.offset, first.bit_position});
    u64 end = 0;
    std::size_t i = at;
    for (; i < numbers.size(); ++i) {
      const auto& one = member(numbers[i]);
      const bool outside =
          i > at && one.offset >= end && !continues_bits(numbers[i - 1], numbers[i]);
      if (outside && i > last_alternative) break;
      end = std::max(end, one.offset + one.size);
    }
    return i;
  }

  std::optional<Region> part_of(Numbers numbers, u32 level) {
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (begins_alike(numbers[0], numbers[i])) starts.push_back(i);
    if (starts.size() == 1) {
      auto one = alone(numbers);
      // What overlaps it without beginning where it does is explained by nothing.
      if (one.members.size() != numbers.size()) return in_rows(numbers, level);
      return one;
    }
    const auto& first = member(numbers[0]);
    // A union begins with a whole integer, not inside one.
    if (first.bit_position != 0) return in_rows(numbers, level);
    Region region{Region::Kind::alternatives, first.offset, 0, {}, {}};
    starts.push_back(numbers.size());
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      auto part =
          sequence(numbers.subspan(starts[i], starts[i + 1] - starts[i]), first.offset, level + 1);
      if (!part) return std::nullopt;
      region.size = std::max(region.size, part->size);
      region.parts.push_back(std::move(*part));
    }
    return region;
  }

  // Those that overlap as nothing explains: alternatives of members that do not, each in the first
  // that has room for it.
  std::optional<Region> in_rows(Numbers numbers, u32 level) {
    std::vector<std::vector<std::size_t>> rows;
    u64 base = ~u64{0};
    for (const auto number : numbers) {
      base = std::min(base, member(number).offset);
      const auto has_room = [&](const auto& row) { return follows(row.back(), number); };
      const auto searched = rows.begin() + std::min<std::ptrdiff_t>(std::ssize(rows), most_rows);
      const auto row = std::find_if(rows.begin(), searched, has_room);
      if (row != searched)
        row->push_back(number);
      else
        rows.push_back({number});
    }
    Region region{Region::Kind::alternatives, base, 0, {}, {}};
    for (const auto& row : rows) {
      auto part = sequence(row, base, level + 1);
      if (!part) return std::nullopt;
      region.size = std::max(region.size, part->size);
      region.parts.push_back(std::move(*part));
    }
    return region;
  }

  bool follows(std::size_t before, std::size_t number) const {
    return member(number).offset >= member(before).offset + member(before).size ||
           continues_bits(before, number);
  }

  // The member, or the run of bit fields, that comes first.
  Region alone(Numbers numbers) {
    const auto& first = member(numbers[0]);
    if (!first.is_bit_field())
      return {Region::Kind::member, first.offset, first.size, {numbers[0]}, {}};
    Region region{Region::Kind::bits, first.offset, first.size, {numbers[0]}, {}};
    for (std::size_t i = 1; i < numbers.size() && continues_bits(numbers[i - 1], numbers[i]); ++i)
      region.members.push_back(numbers[i]);
    return region;
  }

  const std::vector<PlacedMember>& members_;
};

Region each_alone(const std::vector<PlacedMember>& members, Numbers numbers) {
  Region region{Region::Kind::alternatives, 0, 0, {}, {}};
  for (const auto number : numbers) {
    const auto& one = members[number];
    const auto kind = one.is_bit_field() ? Region::Kind::bits : Region::Kind::member;
    Region part{Region::Kind::sequence, 0, one.offset + one.size, {}, {}};
    part.parts.push_back({kind, one.offset, one.size, {number}, {}});
    region.size = std::max(region.size, part.size);
    region.parts.push_back(std::move(part));
  }
  return region;
}

Region wrapped(Region part) {
  Region whole{Region::Kind::sequence, 0, part.size, {}, {}};
  whole.parts.push_back(std::move(part));
  return whole;
}

}  // namespace

Region regions_of(const std::vector<PlacedMember>& members, u64 size, bool is_union) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].lies_within(size)) numbers.push_back(i);
  if (numbers.size() <= most_members && !is_union)
    if (auto whole = Builder{members}.sequence(numbers, 0, 0)) return std::move(*whole);
  if (numbers.empty()) return {Region::Kind::sequence, 0, 0, {}, {}};
  if (numbers.size() <= most_members && is_union) {
    Region all{Region::Kind::alternatives, 0, 0, {}, {}};
    bool explained = true;
    for (std::size_t at = 0; at < numbers.size() && explained;) {
      const auto starts_union = [&](std::size_t number) {
        return members[number].offset == 0 && members[number].bit_position == 0;
      };
      auto next = at + 1;
      while (next < numbers.size() && !starts_union(numbers[next])) ++next;
      auto part = Builder{members}.sequence(Numbers{numbers}.subspan(at, next - at), 0, 0);
      explained = part.has_value();
      if (!explained) break;
      all.size = std::max(all.size, part->size);
      all.parts.push_back(std::move(*part));
      at = next;
    }
    if (explained) return wrapped(std::move(all));
  }
  return wrapped(each_alone(members, numbers));
}

}  // namespace coldtrace::pe
