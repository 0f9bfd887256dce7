#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {

// Source: linux-ntfs documentation, "Attributes: Overview".
enum class AttributeType : u32 {
  standard_information = 0x10,
  attribute_list = 0x20,
  file_name = 0x30,
  object_id = 0x40,
  security_descriptor = 0x50,
  volume_name = 0x60,
  volume_information = 0x70,
  data = 0x80,
  index_root = 0x90,
  index_allocation = 0xa0,
  bitmap = 0xb0,
  reparse_point = 0xc0,
  ea_information = 0xd0,
  ea = 0xe0,
  property_set = 0xf0,
  logged_utility_stream = 0x100,
  end = 0xffff'ffff,
};

// "$DATA"; empty for an unknown type.
[[nodiscard]] std::string_view to_string(AttributeType type);

// One attribute of a FILE record. Views point into the record.
// Source: linux-ntfs documentation, "Attribute Header".
struct Attribute {
  AttributeType type;
  u16 flags;
  u16 id;
  bool resident;
  u32 offset;           // of the attribute in its record
  core::ByteView name;  // UTF-16

  // Resident.
  u32 value_offset;  // in the record
  core::ByteView value;

  // Not resident. Sizes are valid only in the extent with lowest_vcn 0.
  u64 lowest_vcn;
  u64 cluster_count;    // highest minus lowest VCN plus one; 0 for an empty stream
  u8 compression_unit;  // log2 of clusters; 0: not compressed
  u64 allocated_size;
  u64 size;
  u64 valid_size;                      // bytes beyond read as zeros
  std::optional<u64> total_allocated;  // of compressed and sparse streams: bytes on disk
  u32 runs_offset;                     // in the record
  core::ByteView runs;

  [[nodiscard]] bool compressed() const { return (flags & 0x00ff) != 0; }
  [[nodiscard]] bool encrypted() const { return (flags & 0x4000) != 0; }
  [[nodiscard]] bool sparse() const { return (flags & 0x8000) != 0; }
};

// The attributes of one record, in stored order. Ends at the end marker, at the end of what the
// record uses, or at an impossible length; it is not damage only if the first two are at one place.
// An attribute whose header contradicts itself or its type is left out; one in the wrong place, or
// with the id of another, is not. `damage()` returns the first of these.
class AttributeReader {
 public:
  // `offset` is that of the record in the image, for errors.
  AttributeReader(core::BorrowedBytes record, u32 first, u32 used_size, u64 offset);

  std::optional<Attribute> next() {
    Attribute attribute{};
    return read(attribute) ? std::optional{attribute} : std::nullopt;
  }
  // As next(), into a reused attribute: fields of the other residence are left unchanged.
  bool read(Attribute& attribute);
  [[nodiscard]] const std::optional<core::ParseError>& damage() const { return damage_; }
  // The place in the record of an attribute after the end of what is used.
  [[nodiscard]] const std::optional<u32>& remains() const { return remains_; }

 private:
  // What is known about the preceding attributes.
  struct Before {
    AttributeType type = AttributeType::end;
    u32 first = 0;  // of that type
    u64 ids = 0;    // bit: the id modulo 64
  };

  // Both note damage and return false.
  bool note(core::Fault fault, core::Name field, u64 expected, u64 found);
  bool stop(core::Fault fault, core::Name field, u64 expected, u64 found);

  // The bytes of the attribute at `start_`, after which reading continues; nothing at the end.
  std::optional<core::ByteView> take_bytes();
  bool read_from(core::ByteView bytes, Attribute& attribute);
  bool read_name(core::ByteView bytes, u64 place, Attribute& attribute);
  bool read_resident(core::ByteView bytes, Attribute& attribute);
  bool read_non_resident(core::ByteView bytes, Attribute& attribute);
  void check_place(const Attribute& attribute);
  void check_repeated(const Attribute& attribute);
  void check_end();
  bool is_end(u64 at) const;
  bool is_attribute(u64 at) const;
  bool is_id_taken(u16 id) const;
  u32 length_at(u32 at) const;

  core::ByteView record_;
  core::ByteView used_;
  u64 base_;
  u32 first_;
  u32 at_;
  u32 start_;
  Before before_;
  std::optional<core::ParseError> damage_;
  std::optional<u32> remains_;
};

}  // namespace coldtrace::ntfs
