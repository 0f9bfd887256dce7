#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/ntfs/row.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

// A name as stored, including unpaired surrogates.
Object file_name_text(ntfs::StoredText name);

// The index of a member of File.
std::optional<std::size_t> find_file_field(std::string_view name);
bool is_zone_id(std::size_t field);
// What of a row it needs.
ntfs::RowParts parts_of(std::size_t field);

// Turns a row into a File, or into a tuple of some of its members.
class FileObjects {
 public:
  // `fields`: the wanted ones; empty: all, as a record.
  explicit FileObjects(std::vector<std::size_t> fields);
  ~FileObjects();
  Object make(const ntfs::FileRow& row);

 private:
  class Maker;
  std::unique_ptr<Maker> maker_;
};

void add_file_records(py::module_& module);

}  // namespace coldtrace::python
