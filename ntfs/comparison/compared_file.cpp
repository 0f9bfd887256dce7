#include "coldtrace/ntfs/comparison/compared_file.hpp"

#include <algorithm>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::ntfs {
namespace {

void set_name(std::string& name, StoredText stored) {
  name.clear();
  if (!append_utf8(name, stored)) name = inexact_name(to_utf16_hex(stored));
}

}  // namespace

std::string inexact_name(std::string_view utf16) {
  return std::string{'\0'}.append(utf16);
}

std::string shown_name(const std::string& name) {
  if (!name.starts_with('\0')) return name;
  const auto units = core::parse_hex(std::string_view{name}.substr(1));
  return units ? core::decode_utf16(*units).utf8 : name.substr(1);
}

const ComparedStream* ComparedFile::content() const {
  if (!streams) return nullptr;
  const auto found = std::ranges::find_if(
      *streams, [](const ComparedStream& stream) { return stream.name.empty(); });
  return found == streams->end() ? nullptr : &*found;
}

void to_compared(const FileRow& row, ComparedFile& file) {
  file.file = row.source->file;
  file.directory = row.facts.directory;
  file.names.resize(1);
  auto& name = file.names.front();
  name.parent = row.file_name ? row.file_name->parent : row.source->parent;
  set_name(name.name, row.name);
  name.path.clear();
  row.append_path(name.path);
  file.times.reset();
  file.attributes.reset();
  if (row.facts.information) {
    file.times = row.facts.information->times;
    file.attributes = row.facts.information->dos_attributes;
  }
  file.owner.reset();
  if (!row.owner_sid.empty()) file.owner = row.owner_sid;
  if (row.source->streams_left_out) return file.streams.reset();
  if (!file.streams) file.streams.emplace();
  file.streams->resize(row.streams.size());
  for (std::size_t i = 0; i < row.streams.size(); ++i) {
    const auto& from = row.streams[i];
    auto& stream = (*file.streams)[i];
    set_name(stream.name, from.name);
    stream.size = from.size;
    stream.resident = from.resident;
    const auto extents = row.extents_of(from);
    stream.extents.assign(extents.begin(), extents.end());
  }
}

}  // namespace coldtrace::ntfs
