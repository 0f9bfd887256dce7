#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/attribute.hpp"
#include "coldtrace/ntfs/structures/data_runs.hpp"
#include "coldtrace/ntfs/structures/file_name.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"
#include "coldtrace/ntfs/structures/standard_information.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"

namespace coldtrace::ntfs {

// One attribute, without its value unless that is file system metadata.
struct AttributeFacts {
  AttributeType type = AttributeType::end;
  u16 id = 0;
  bool resident = false;
  bool compressed = false;
  bool encrypted = false;
  bool sparse = false;
  StoredText name;
  u64 record = 0;  // the FILE record that contains it
  u64 size = 0;

  // Resident. The value is kept for directory indexes, reparse points, object ids, extended
  // attributes and lists; for a security descriptor, the owner's SID.
  u32 value_offset = 0;  // in the record
  core::ByteView value;

  // Not resident; sizes are valid only if lowest_vcn is 0.
  u64 lowest_vcn = 0;
  u64 cluster_count = 0;
  u64 allocated_size = 0;
  u64 valid_size = 0;
  std::optional<u64> total_allocated;
  u32 runs_offset = 0;  // in the record
  core::ByteView runs;
};

// The contents of one FILE record, or of a file with several. Views refer to bytes owned elsewhere.
struct RecordFacts {
  u64 record = 0;
  u16 sequence = 0;
  u16 link_count = 0;  // from the record's header
  bool in_use = false;
  bool directory = false;
  bool bad = false;           // marked "BAAD"
  bool torn = false;          // a fixup does not match
  bool damaged = false;       // attributes after the first invalid one are lost
  bool misplaced = false;     // the record contains another number
  bool beyond_valid = false;  // in clusters of $MFT that are not valid yet
  bool has_list = false;
  FileReference base;  // of an extension record
  std::optional<StandardInformation> information;
  std::optional<u64> content_size;  // of the unnamed $DATA
  std::optional<u32> remains_at;    // only in the record: offset of an unused attribute
  std::vector<FileName> names;
  std::vector<AttributeFacts> attributes;

  [[nodiscard]] bool is_extension() const { return base != FileReference{}; }
  [[nodiscard]] FileReference reference() const { return {record, sequence}; }
  const AttributeFacts* find(AttributeType type, std::string_view name = {}) const;

  // Empties everything but keeps the memory.
  void clear();
};

constexpr std::string_view directory_index_name = "$I30";
constexpr std::string_view security_index_name = "$SII";  // of ids, in $Secure

// True for the short name of a link that also has a long one: it has no row of its own.
[[nodiscard]] bool is_short_half(const RecordFacts& facts, const FileName& name);

// The same for all names of a file, which may be thousands.
class ShortHalves {
 public:
  explicit ShortHalves(const RecordFacts& facts);
  // Whether the name is a short one that is not a row of its own.
  [[nodiscard]] bool contains(const FileName& name) const;

 private:
  std::vector<FileReference> long_names_;  // directories of long names, sorted, if there are any
};

// The names of a file, without short halves.
[[nodiscard]] u32 count_links(const RecordFacts& facts);

// Attributes that every file in use has, but this one, whose records are all joined, does not.
[[nodiscard]] std::optional<core::Name> find_missing(const RecordFacts& facts);

// Whether a record was prepared for use and never used. A used record had a name, and its sequence
// number grew when its file was deleted. Formatting prepares 24 records, or as many as fit into the
// first cluster of $MFT, whose numbers are their sequence (observed on Windows 10 with clusters of
// 2 MiB: 2,048 of them).
// `facts` are those of all records of the file.
[[nodiscard]] bool was_never_used(const RecordFacts& facts);

// Reads a record after its fixups into `facts`. Damage inside the record is reported in
// `facts.damaged`, and the first such error is the optional result; the error of the Result means
// that there is no record.
core::Result<std::optional<core::ParseError>> read_record_facts(core::ByteView record, u64 number,
                                                                u64 offset, RecordFacts& facts);

}  // namespace coldtrace::ntfs
