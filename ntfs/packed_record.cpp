#include "ntfs/packed_record.hpp"

#include <algorithm>
#include <bit>

namespace coldtrace::ntfs {
namespace {

enum RecordBit : u16 {
  bit_in_use = 1,
  bit_directory = 2,
  bit_bad = 4,
  bit_torn = 8,
  bit_damaged = 0x10,
  bit_misplaced = 0x20,
  bit_beyond_valid = 0x40,
  bit_list = 0x80,
  bit_extension = 0x100,
  bit_information = 0x200,
  bit_security_id = 0x400,
};

enum AttributeBit : u8 {
  bit_resident = 1,
  bit_compressed = 2,
  bit_encrypted = 4,
  bit_sparse = 8,
  bit_named = 0x10,
  bit_narrow = 0x20,
  bit_value = 0x40,
  bit_total = 0x80,
};

// The distinct times of one record; a time is packed as its index of 4 bits.
class TimePool {
 public:
  static constexpr u8 stored_apart = 15;

  u8 index_of(core::FileTime time) {
    for (u8 i = 0; i < count_; ++i)
      if (times_[i] == time.ticks) return i;
    if (count_ == stored_apart) return stored_apart;
    times_[count_] = time.ticks;
    return count_++;
  }

  void put(PackedWriter& out) const {
    out.put_raw(count_);
    for (u8 i = 0; i < count_; ++i) out.put_raw(times_[i]);
  }

  void get(PackedReader& in) {
    count_ = std::min<u8>(in.get_raw<u8>(), stored_apart);
    for (u8 i = 0; i < count_; ++i) times_[i] = in.get_raw<u64>();
  }

  core::FileTime time(unsigned index, PackedReader& in) const {
    return {index == stored_apart ? in.get_raw<u64>() : times_[index]};
  }

 private:
  std::array<u64, stored_apart> times_{};
  u8 count_ = 0;
};

std::array<core::FileTime, 4> in_order(const Times& times) {
  return {times.created, times.modified, times.changed, times.accessed};
}

void put_times(const Times& times, TimePool& pool, PackedWriter& out) {
  u16 selectors = 0;
  const auto ordered = in_order(times);
  for (unsigned i = 0; i < 4; ++i)
    selectors = static_cast<u16>(selectors | pool.index_of(ordered[i]) << (4 * i));
  out.put_raw(selectors);
  for (unsigned i = 0; i < 4; ++i)
    if ((selectors >> (4 * i) & 15) == TimePool::stored_apart) out.put_raw(ordered[i].ticks);
}

Times get_times(const TimePool& pool, PackedReader& in) {
  const auto selectors = in.get_raw<u16>();
  const auto time = [&](unsigned i) { return pool.time(selectors >> (4 * i) & 15, in); };
  // A braced list is evaluated left to right, as the times stored apart are.
  return Times{time(0), time(1), time(2), time(3)};
}

void put_text(StoredText text, bool narrow, PackedWriter& out) {
  if (!narrow || text.narrow) {
    out.put_bytes(text.bytes);
    return;
  }
  for (std::size_t i = 0; i < text.units(); ++i) out.put_raw(static_cast<u8>(text.unit(i)));
}

bool is_narrow(StoredText text) {
  return text.narrow || fits_narrow(text.bytes);
}

void put_reference(FileReference reference, PackedWriter& out) {
  out.put(reference.record);
  out.put_raw(reference.sequence);
}

FileReference get_reference(PackedReader& in) {
  const u64 record = in.get();
  return {record, in.get_raw<u16>()};
}

void put_name(const FileName& name, TimePool& pool, PackedWriter& out) {
  put_reference(name.parent, out);
  put_times(name.times, pool, out);
  out.put(name.allocated_size);
  out.put(name.size);
  out.put(name.flags);
  out.put(name.reparse_tag);
  const bool narrow = is_narrow(name.name);
  out.put_raw(static_cast<u8>(static_cast<u8>(name.name_space) | (narrow ? 0x80 : 0)));
  out.put_raw(static_cast<u8>(name.name.units()));
  put_text(name.name, narrow, out);
}

FileName get_name(const TimePool& pool, PackedReader& in) {
  FileName name{};
  name.parent = get_reference(in);
  name.times = get_times(pool, in);
  name.allocated_size = in.get();
  name.size = in.get();
  name.flags = static_cast<u32>(in.get());
  name.reparse_tag = static_cast<u32>(in.get());
  const auto kind = in.get_raw<u8>();
  const std::size_t units = in.get_raw<u8>();
  name.name_space = static_cast<NameSpace>(kind & 3);
  name.name.narrow = (kind & 0x80) != 0;
  name.name.bytes = in.get_bytes(name.name.narrow ? units : units * 2);
  return name;
}

void put_attribute(const AttributeFacts& facts, PackedWriter& out) {
  const bool narrow = is_narrow(facts.name);
  const auto bit = [](bool set, unsigned value) { return set ? value : 0U; };
  out.put(std::rotr(static_cast<u32>(facts.type), 4));
  out.put_raw(static_cast<u8>(
      bit(facts.resident, bit_resident) | bit(facts.compressed, bit_compressed) |
      bit(facts.encrypted, bit_encrypted) | bit(facts.sparse, bit_sparse) |
      bit(!facts.name.empty(), bit_named) | bit(narrow, bit_narrow) |
      bit(!facts.value.empty(), bit_value) | bit(facts.total_allocated.has_value(), bit_total)));
  out.put(facts.id);
  if (!facts.name.empty()) {
    out.put_raw(static_cast<u8>(facts.name.units()));
    put_text(facts.name, narrow, out);
  }
  out.put(facts.size);
  if (facts.resident) {
    out.put(facts.value_offset);
    if (!facts.value.empty()) {
      out.put(facts.value.size());
      out.put_bytes(facts.value);
    }
    return;
  }
  out.put(facts.lowest_vcn);
  out.put(facts.cluster_count);
  if (facts.lowest_vcn == 0) {
    out.put(facts.allocated_size);
    out.put(facts.valid_size);
    if (facts.total_allocated) out.put(*facts.total_allocated);
  }
  out.put(facts.runs_offset);
  out.put(facts.runs.size());
  out.put_bytes(facts.runs);
}

AttributeFacts get_attribute(u64 record, PackedReader& in) {
  AttributeFacts facts{.type =
                           static_cast<AttributeType>(std::rotl(static_cast<u32>(in.get()), 4))};
  const auto bits = in.get_raw<u8>();
  facts.id = static_cast<u16>(in.get());
  facts.resident = (bits & bit_resident) != 0;
  facts.compressed = (bits & bit_compressed) != 0;
  facts.encrypted = (bits & bit_encrypted) != 0;
  facts.sparse = (bits & bit_sparse) != 0;
  facts.record = record;
  if (bits & bit_named) {
    const std::size_t units = in.get_raw<u8>();
    facts.name.narrow = (bits & bit_narrow) != 0;
    facts.name.bytes = in.get_bytes(facts.name.narrow ? units : units * 2);
  }
  facts.size = in.get();
  if (facts.resident) {
    facts.value_offset = static_cast<u32>(in.get());
    if (bits & bit_value) facts.value = in.get_bytes(in.get());
    return facts;
  }
  facts.lowest_vcn = in.get();
  facts.cluster_count = in.get();
  if (facts.lowest_vcn == 0) {
    facts.allocated_size = in.get();
    facts.valid_size = in.get();
    if (bits & bit_total) facts.total_allocated = in.get();
  }
  facts.runs_offset = static_cast<u32>(in.get());
  facts.runs = in.get_bytes(in.get());
  return facts;
}

// The mapping pairs up to their terminator, without what fills the attribute behind it.
core::ByteView trim_runs(core::ByteView runs) {
  u64 at = 0;
  while (at < runs.size()) {
    const auto header = std::to_integer<unsigned>(runs[at]);
    if (header == 0) break;
    at += 1 + (header & 15) + (header >> 4);
  }
  return runs.first(std::min<u64>(at, runs.size()));
}

}  // namespace

void pack_record(const RecordFacts& facts, PackedWriter& out) {
  const auto bit = [](bool set, unsigned value) { return set ? value : 0U; };
  const bool security = facts.information && facts.information->security_id;
  out.clear();
  out.put_raw(facts.sequence);
  out.put_raw(static_cast<u16>(
      bit(facts.in_use, bit_in_use) | bit(facts.directory, bit_directory) |
      bit(facts.bad, bit_bad) | bit(facts.torn, bit_torn) | bit(facts.damaged, bit_damaged) |
      bit(facts.misplaced, bit_misplaced) | bit(facts.beyond_valid, bit_beyond_valid) |
      bit(facts.has_list, bit_list) | bit(facts.is_extension(), bit_extension) |
      bit(facts.information.has_value(), bit_information) | bit(security, bit_security_id)));
  if (facts.is_extension()) put_reference(facts.base, out);

  TimePool pool;
  if (facts.information)
    for (const auto time : in_order(facts.information->times)) pool.index_of(time);
  for (const auto& name : facts.names)
    for (const auto time : in_order(name.times)) pool.index_of(time);
  pool.put(out);
  if (facts.information) {
    put_times(facts.information->times, pool, out);
    out.put(facts.information->dos_attributes);
    if (security) {
      out.put(*facts.information->security_id);
      out.put(facts.information->usn.value_or(0));
    }
  }
  out.put(facts.names.size());
  for (const auto& name : facts.names) put_name(name, pool, out);
  out.put(facts.attributes.size());
  for (const auto& attribute : facts.attributes) {
    auto trimmed = attribute;
    trimmed.runs = trim_runs(attribute.runs);
    put_attribute(trimmed, out);
  }
}

void unpack_record(core::ByteView piece, u64 record, bool extension, RecordFacts& facts) {
  PackedReader in{piece};
  const auto sequence = in.get_raw<u16>();
  const auto bits = in.get_raw<u16>();
  const FileReference base = bits & bit_extension ? get_reference(in) : FileReference{};
  TimePool pool;
  pool.get(in);
  std::optional<StandardInformation> information;
  if (bits & bit_information) {
    information.emplace();
    information->times = get_times(pool, in);
    information->dos_attributes = static_cast<u32>(in.get());
    if (bits & bit_security_id) {
      information->security_id = static_cast<u32>(in.get());
      information->usn = in.get();
    }
  }
  if (!extension) {
    facts.record = record;
    facts.sequence = sequence;
    facts.in_use = (bits & bit_in_use) != 0;
    facts.directory = (bits & bit_directory) != 0;
    facts.bad = (bits & bit_bad) != 0;
    facts.misplaced = (bits & bit_misplaced) != 0;
    facts.beyond_valid = (bits & bit_beyond_valid) != 0;
    facts.has_list = (bits & bit_list) != 0;
    facts.base = base;
    facts.information = information;
  }
  if (bits & bit_torn) facts.torn = true;
  if (bits & bit_damaged) facts.damaged = true;
  for (u64 count = in.get(); count > 0; --count) facts.names.push_back(get_name(pool, in));
  for (u64 count = in.get(); count > 0; --count)
    facts.attributes.push_back(get_attribute(record, in));
}

RecordSummary summarize(const RecordFacts& facts) {
  return {.sequence = facts.sequence,
          .in_use = facts.in_use,
          .directory = facts.directory,
          .extension = facts.is_extension(),
          .several_names = facts.names.size() > 1 || facts.has_list};
}

}  // namespace coldtrace::ntfs
