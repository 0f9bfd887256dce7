#include "coldtrace/ntfs_privacy/hashed_row.hpp"

#include "coldtrace/ntfs/structures/extended_attributes.hpp"

namespace coldtrace::ntfs {
namespace {

// Appends an entry of $EA; its value is of the same size, and zeros.
// Source: linux-ntfs documentation, "$EA".
void append_entry(std::vector<std::byte>& list, std::string_view name, std::size_t value_size) {
  constexpr std::size_t head = 8;
  const auto size = (head + name.size() + 1 + value_size + 3) / 4 * 4;
  const auto start = list.size();
  list.resize(start + size);
  const auto put = [&](std::size_t at, std::size_t number, int bytes) {
    for (int i = 0; i < bytes; ++i, number >>= 8U)
      list[start + at + static_cast<std::size_t>(i)] = static_cast<std::byte>(number);
  };
  put(0, size, 4);
  put(5, name.size(), 1);
  put(6, value_size, 2);
  for (std::size_t i = 0; i < name.size(); ++i)
    list[start + head + i] = static_cast<std::byte>(name[i]);
}

}  // namespace

void RowHasher::hash(FileRow& row) {
  names_.clear();
  hash_names(row);
  row.owner_sid = {};
  row.object_id.reset();
  row.reparse_target.reset();
  row.zone_id.reset();
  hash_extended_attributes(row);
  hash_findings(row, names_.names());
}

void RowHasher::hash_names(FileRow& row) {
  if (row.parent_path != parent_) {
    parent_ = row.parent_path;
    hashed_parent_.clear();
    append_hashed_path(hashed_parent_, names_.names(), parent_);
  }
  row.parent_path = hashed_parent_;
  const u64 record = row.is_root() ? root_record : 0;
  row.name = names_.hash_of_file(record, row.name);
  if (row.file_name != nullptr) {
    file_name_ = *row.file_name;
    file_name_.name = names_.hash_of_file(record, file_name_.name);
    row.file_name = &file_name_;
  }
  if (row.short_name != nullptr) {
    short_name_ = *row.short_name;
    short_name_.name = names_.hash(short_name_.name);
    row.short_name = &short_name_;
  }
  for (auto* const streams : {&row.streams, &row.other_streams})
    for (auto& stream : *streams) stream.name = names_.hash(stream.name);
}

void RowHasher::hash_extended_attributes(FileRow& row) {
  if (row.extended_attributes.empty()) return;
  extended_attributes_.clear();
  ExtendedAttributeReader entries{row.extended_attributes};
  while (const auto entry = entries.next())
    append_entry(extended_attributes_, names_.names().name(entry->name), entry->value.size());
  row.extended_attributes = extended_attributes_;
}

// Sentences have names between quotes.
void RowHasher::hash_findings(FileRow& row, const privacy::HashedNames& names) {
  for (auto& finding : row.findings) {
    const auto first = finding.text.find('"');
    const auto last = finding.text.rfind('"');
    if (first == finding.text.npos || first == last) continue;
    const auto quoted = finding.text.substr(first + 1, last - first - 1);
    const auto middle = quoted.find(between_names);
    auto hashed = names.name(quoted.substr(0, middle));
    if (middle != quoted.npos) {
      hashed += between_names;
      hashed += names.name(quoted.substr(middle + between_names.size()));
    }
    finding.text.replace(first + 1, quoted.size(), hashed);
  }
}

}  // namespace coldtrace::ntfs
