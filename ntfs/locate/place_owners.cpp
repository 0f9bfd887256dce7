#include "ntfs/locate/place_owners.hpp"

#include <algorithm>
#include <tuple>

#include "coldtrace/core/checked.hpp"
#include "ntfs/snapshot/stream_parts.hpp"

namespace coldtrace::ntfs {
namespace {

// Sizes stand in the attribute with the first clusters of a stream.
StreamPart part_of_first(const AttributeFacts& first, u64 position) {
  if (first.lowest_vcn != 0 && !first.compressed) return StreamPart::unknown;
  return part_at(first.compressed, first.size, first.valid_size, position);
}

}  // namespace

PlaceOwner PlaceOwners::describe(const RecordFacts& facts) {
  PlaceOwner owner{.file = facts.reference(),
                   .state = facts.in_use ? State::unnamed : State::deleted,
                   .directory = facts.directory,
                   .system = facts.record < first_user_record,
                   .links = count_links(facts)};
  if (facts.record == root_record && facts.in_use) {
    owner.path = "/";
    owner.state = State::live;
    return owner;
  }
  auto name = std::ranges::find_if(
      facts.names, [](const FileName& n) { return n.name_space != NameSpace::dos; });
  if (name == facts.names.end()) name = facts.names.begin();
  if (name == facts.names.end()) return owner;
  const auto parent = chain_.find(name->parent);
  owner.path = parent.text;
  owner.path += '/';
  append_exact(owner.path, name->name);
  owner.system |= parent.whole && owner.path.starts_with("/$Extend/");
  if (facts.in_use) owner.state = parent.whole && parent.live ? State::live : State::detached;
  return owner;
}

u64 PlaceOwners::file_of(u64 record) {
  records_.unpack(record, facts_);
  const u64 base = facts_.base.record;
  if (!facts_.is_extension() || !records_.has(base) || records_.summary(base).extension)
    return record;
  records_.unpack(base, base_);
  return belongs_to(facts_, base_) ? base : record;
}

void PlaceOwners::add(std::vector<ClusterClaim> claims, std::span<Place> places) {
  struct Owned {
    u64 file;
    ClusterClaim claim;
  };
  std::ranges::stable_sort(claims, {}, &ClusterClaim::record);
  std::vector<Owned> owned;
  owned.reserve(claims.size());
  for (const auto& claim : claims)
    owned.push_back({!owned.empty() && owned.back().claim.record == claim.record
                         ? owned.back().file
                         : file_of(claim.record),
                     claim});
  std::ranges::sort(owned, [](const Owned& a, const Owned& b) {
    return std::tie(a.file, a.claim.place, a.claim.record) <
           std::tie(b.file, b.claim.place, b.claim.record);
  });
  std::vector<ClusterClaim> own;
  for (auto at = owned.begin(); at != owned.end();) {
    const u64 file = at->file;
    own.clear();
    for (; at != owned.end() && at->file == file; ++at) own.push_back(at->claim);
    add_of_file(file, own, places);
  }
  for (auto& place : places)
    std::ranges::stable_sort(place.owners, [](const PlaceOwner& a, const PlaceOwner& b) {
      const bool first = a.state == State::deleted;
      const bool second = b.state == State::deleted;
      return std::tie(first, a.file.record) < std::tie(second, b.file.record);
    });
}

void PlaceOwners::add_of_file(u64 file, Claims claims, std::span<Place> places) {
  RecordFacts facts;
  records_.assemble(file, facts);
  auto left = add_streams(facts, claims, places);
  // An extension record that the file's attribute list does not have speaks for itself.
  std::ranges::sort(left, [](const ClusterClaim& a, const ClusterClaim& b) {
    return std::tie(a.record, a.place) < std::tie(b.record, b.place);
  });
  for (auto at = left.begin(); at != left.end();) {
    const auto end = std::find_if(
        at, left.end(), [&](const ClusterClaim& claim) { return claim.record != at->record; });
    records_.unpack(at->record, facts);
    // Runs behind others of the same clusters of a stream are claims all the same.
    for (const auto& claim : add_streams(facts, {at, end}, places))
      places[claim.place].owners.push_back(describe(facts));
    at = end;
  }
}

// Returns the claims that no stream of the record has.
std::vector<ClusterClaim> PlaceOwners::add_streams(const RecordFacts& facts, Claims claims,
                                                   std::span<Place> places) {
  const auto& map = volume_.mft().clusters();
  const auto known = describe(facts);
  const auto cluster_of = [&](const ClusterClaim& claim) { return places[claim.place].cluster; };
  OpenPlaces open{claims.size()};
  std::vector<const AttributeFacts*> memory;
  const StreamParts parts{facts.attributes, memory};
  for (const auto& attribute : facts.attributes) {
    if (attribute.resident) continue;
    const auto own = parts.of(attribute);
    if (own.front() != &attribute) continue;
    const auto& first = **std::ranges::min_element(own, {}, &AttributeFacts::lowest_vcn);
    ExtentFaults faults;
    for (const auto& extent : collect_extents({own.begin(), own.end()}, map, faults)) {
      if (!extent.lcn || !map.contains(*extent.lcn, extent.clusters)) continue;
      const u64 start = static_cast<u64>(*extent.lcn);
      auto at = open.first(static_cast<std::size_t>(
          std::ranges::lower_bound(claims, start, {}, cluster_of) - claims.begin()));
      for (; at < claims.size() && cluster_of(claims[at]) < start + extent.clusters;
           at = open.first(at + 1)) {
        auto& place = places[claims[at].place];
        const u64 start_of_cluster = core::saturating_multiply(
            core::saturating_add(extent.vcn, place.cluster - start), map.cluster_size);
        const u64 position = core::saturating_add(
            start_of_cluster, (place.offset - map.volume_offset) % map.cluster_size);
        auto owner = known;
        owner.type = attribute.type;
        owner.stream = to_exact(attribute.name);
        owner.part = part_of_first(first, position);
        if (owner.part != StreamPart::compressed) owner.position = position;
        if (first.lowest_vcn == 0) owner.size = first.size;
        const bool again = !place.owners.empty() && place.owners.back().file == owner.file &&
                           place.owners.back().type == owner.type &&
                           place.owners.back().stream == owner.stream;
        if (!again) place.owners.push_back(std::move(owner));
        open.close(at);
      }
    }
  }
  std::vector<ClusterClaim> left;
  for (auto at = open.first(0); at < claims.size(); at = open.first(at + 1))
    left.push_back(claims[at]);
  return left;
}

}  // namespace coldtrace::ntfs
