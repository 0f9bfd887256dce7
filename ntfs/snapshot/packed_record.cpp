#include "coldtrace/ntfs/packed_record.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "coldtrace/ntfs/structures/data_runs.hpp"

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
  bit_content = 0x800,
};

enum AttributeBit : u8 {
  bit_resident = 1,
  bit_compressed = 2,
  bit_encrypted = 4,
  bit_sparse = 8,
  bit_named = 0x10,
  bit_value = 0x20,
  bit_total = 0x40,
};

// The distinct times of one record, in the order in which they come up. Four indexes of 4 bits
// say which a set has; behind them are the times that come up for the first time.
class TimePool {
 public:
  void put(const Times& times, PackedWriter& out) {
    const std::array<u64, 4> ordered{times.created.ticks, times.modified.ticks, times.changed.ticks,
                                     times.accessed.ticks};
    std::byte* const at = out.room(2 + sizeof ordered);
    std::size_t used = 2;
    unsigned indexes = 0;
    for (unsigned i = 0; i < 4; ++i) {
      unsigned index = 0;
      while (index < count_ && times_[index] != ordered[i]) ++index;
      indexes |= index << (4 * i);
      if (index < count_) continue;
      std::memcpy(at + used, &ordered[i], 8);
      used += 8;
      if (count_ < most) times_[count_++] = ordered[i];
    }
    const auto stored = static_cast<u16>(indexes);
    std::memcpy(at, &stored, 2);
    out.commit(used);
  }

  void get(PackedReader& in, Times& times) {
    const unsigned indexes = in.get_raw<u16>();
    // In stored order, as the times behind the indexes are.
    times.created = get_time(indexes & 15, in);
    times.modified = get_time(indexes >> 4 & 15, in);
    times.changed = get_time(indexes >> 8 & 15, in);
    times.accessed = get_time(indexes >> 12 & 15, in);
  }

 private:
  static constexpr unsigned most = 15;

  core::FileTime get_time(unsigned index, PackedReader& in) {
    if (index < count_) return {times_[index]};
    const auto ticks = in.get_raw<u64>();
    if (count_ < most) times_[count_++] = ticks;
    return {ticks};
  }

  std::array<u64, most> times_;  // those below count_ are set
  unsigned count_ = 0;
};

// A byte whose top bit tells narrow text, the number of units, the text.
void put_text(u8 kind, StoredText text, PackedWriter& out) {
  std::byte* const at = out.room(2 + text.units() * 2);
  bool narrow = text.narrow;
  if (!narrow) narrow = copy_narrow(text.bytes, at + 2);
  if (text.narrow || !narrow) std::memcpy(at + 2, text.bytes.data(), text.bytes.size());
  at[0] = static_cast<std::byte>(kind | (narrow ? 0x80 : 0));
  at[1] = static_cast<std::byte>(text.units());
  out.commit(2 + text.units() * (narrow ? 1 : 2));
}

inline u8 get_text(PackedReader& in, StoredText& text) {
  const auto kind = in.get_raw<u8>();
  const std::size_t units = in.get_raw<u8>();
  text.narrow = (kind & 0x80) != 0;
  text.bytes = in.get_bytes(text.narrow ? units : units * 2);
  return kind & 0x7f;
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
  pool.put(name.times, out);
  out.put(name.size);
  out.put(name.id);
  put_text(static_cast<u8>(name.name_space), name.name, out);
}

void get_name(u64 record, TimePool& pool, PackedReader& in, FileName& name) {
  name.record = record;
  name.parent = get_reference(in);
  pool.get(in, name.times);
  name.size = in.get();
  name.id = static_cast<u16>(in.get());
  name.name_space = static_cast<NameSpace>(get_text(in, name.name) & 3);
}

void put_attribute(const AttributeFacts& facts, core::ByteView runs, PackedWriter& out) {
  const auto bit = [](bool set, unsigned value) { return set ? value : 0U; };
  out.put(std::rotr(static_cast<u32>(facts.type), 4));
  out.put_raw(
      static_cast<u8>(bit(facts.resident, bit_resident) | bit(facts.compressed, bit_compressed) |
                      bit(facts.encrypted, bit_encrypted) | bit(facts.sparse, bit_sparse) |
                      bit(!facts.name.empty(), bit_named) | bit(!facts.value.empty(), bit_value) |
                      bit(facts.total_allocated.has_value(), bit_total)));
  out.put(facts.id);
  if (!facts.name.empty()) put_text(0, facts.name, out);
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
  out.put(runs.size());
  out.put_bytes(runs);
}

void get_attribute(u64 record, PackedReader& in, AttributeFacts& facts) {
  facts.type = static_cast<AttributeType>(std::rotl(static_cast<u32>(in.get()), 4));
  const auto bits = in.get_raw<u8>();
  facts.id = static_cast<u16>(in.get());
  facts.resident = (bits & bit_resident) != 0;
  facts.compressed = (bits & bit_compressed) != 0;
  facts.encrypted = (bits & bit_encrypted) != 0;
  facts.sparse = (bits & bit_sparse) != 0;
  facts.record = record;
  if (bits & bit_named) get_text(in, facts.name);
  facts.size = in.get();
  if (facts.resident) {
    facts.value_offset = static_cast<u32>(in.get());
    if (bits & bit_value) facts.value = in.get_bytes(in.get());
    return;
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
}

// Everything before the attributes. The reader comes and goes by value, to stay in registers.
PackedReader unpack_head(PackedReader in, u64 record, RecordFacts& facts) {
  facts.record = record;
  facts.sequence = in.get_raw<u16>();
  const auto bits = in.get_raw<u16>();
  facts.link_count = static_cast<u16>(in.get());
  if (bits & bit_extension) facts.base = get_reference(in);
  TimePool pool;
  if (bits & bit_information) {
    auto& information = facts.information.emplace();
    pool.get(in, information.times);
    information.dos_attributes = static_cast<u32>(in.get());
    information.id = static_cast<u16>(in.get());
    if (bits & bit_security_id) {
      information.security_id = static_cast<u32>(in.get());
      information.usn = in.get();
    }
  }
  facts.in_use = (bits & bit_in_use) != 0;
  facts.directory = (bits & bit_directory) != 0;
  facts.bad = (bits & bit_bad) != 0;
  facts.torn = (bits & bit_torn) != 0;
  facts.damaged = (bits & bit_damaged) != 0;
  facts.misplaced = (bits & bit_misplaced) != 0;
  facts.beyond_valid = (bits & bit_beyond_valid) != 0;
  facts.has_list = (bits & bit_list) != 0;
  for (u64 count = in.get(); count > 0; --count)
    get_name(record, pool, in, facts.names.emplace_back());
  if (bits & bit_content) facts.content_size = in.get();
  return in;
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
      bit(facts.information.has_value(), bit_information) | bit(security, bit_security_id) |
      bit(facts.content_size.has_value(), bit_content)));
  out.put(facts.link_count);
  if (facts.is_extension()) put_reference(facts.base, out);

  TimePool pool;
  if (facts.information) {
    pool.put(facts.information->times, out);
    out.put(facts.information->dos_attributes);
    out.put(facts.information->id);
    if (security) {
      out.put(*facts.information->security_id);
      out.put(facts.information->usn.value_or(0));
    }
  }
  out.put(facts.names.size());
  for (const auto& name : facts.names) put_name(name, pool, out);
  if (facts.content_size) out.put(*facts.content_size);
  out.put(facts.attributes.size());
  for (const auto& attribute : facts.attributes)
    put_attribute(attribute, trim_runs(attribute.runs), out);
}

void unpack_record(core::ByteView piece, u64 record, RecordFacts& facts) {
  auto in = unpack_head(PackedReader{piece}, record, facts);
  for (u64 count = in.get(); count > 0; --count)
    get_attribute(record, in, facts.attributes.emplace_back());
}

void unpack_names(core::ByteView piece, u64 record, RecordFacts& facts) {
  unpack_head(PackedReader{piece}, record, facts);
}

RecordSummary summarize(const RecordFacts& facts) {
  return {.sequence = facts.sequence,
          .in_use = facts.in_use,
          .directory = facts.directory,
          .extension = facts.is_extension(),
          .several_links = count_links(facts) > 1 || facts.has_list,
          .out_of_order = false};
}

}  // namespace coldtrace::ntfs
