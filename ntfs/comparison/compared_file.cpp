#include "coldtrace/ntfs/comparison/compared_file.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "coldtrace/ntfs/structures/extended_attributes.hpp"

namespace coldtrace::ntfs {
namespace {

// In memory that the text has already.
void set_text(std::string& text, StoredText stored) {
  text.clear();
  append_exact(text, stored);
}

// What lies outside the record and could not be read is not known.
bool is_unread(const FileRow& row, AttributeType type) {
  const auto* attribute = row.facts.find(type);
  return attribute && !attribute->resident;
}

// As rows have it.
std::string shown_type(AttributeType type) {
  const auto name = to_string(type);
  return name.empty() ? fmt::format("{:#x}", static_cast<u32>(type)) : std::string{name};
}

void set_members(const FileRow& row, ComparedFile& file) {
  auto& [security_id, object_id, reparse, attributes, other_streams] = file.members;
  const auto& information = row.facts.information;
  security_id = information && information->security_id
                    ? fmt::format("{}", *information->security_id)
                    : std::string{};
  object_id = row.object_id ? core::to_string(*row.object_id) : std::string{};
  reparse.reset();
  attributes.reset();
  other_streams.reset();
  if (row.source->streams_left_out) return;
  auto& others = other_streams.emplace();
  for (const auto& stream : row.other_streams)
    append_compared_stream(others, shown_type(stream.type), to_exact(stream.name), stream.size);
  if (row.reparse_tag)
    reparse = compared_reparse(*row.reparse_tag, row.reparse_target);
  else if (!is_unread(row, AttributeType::reparse_point))
    reparse.emplace();
  if (row.extended_attributes.empty() && is_unread(row, AttributeType::ea)) return;
  auto& text = attributes.emplace();
  ExtendedAttributeReader entries{row.extended_attributes};
  while (const auto entry = entries.next())
    append_compared_attribute(text, entry->name, entry->value.size());
}

}  // namespace

bool loses_attributes(std::string_view finding_code) {
  constexpr std::array<std::string_view, 7> codes = {
      "attribute-list", "attribute-list-limit", "extension-missing", "links-limit",
      "record-bad",     "record-damaged",       "torn-fixup"};
  return std::ranges::find(codes, finding_code) != codes.end();
}

void forget_lost(ComparedFile& file) {
  for (auto& name : file.names)
    if (name.short_name == "") name.short_name.reset();
  for (auto& member : file.members)
    if (member == "") member.reset();
  // A list of all, some of which may be lost.
  file.members.back().reset();
}

std::string compared_reparse(u32 tag, const std::optional<std::string>& target) {
  return fmt::format("{} {}", tag, target.value_or(""));
}

void append_compared_attribute(std::string& text, std::string_view name, u64 size) {
  text += fmt::format("{} {}\n", name, size);
}

void append_compared_stream(std::string& text, std::string_view type, std::string_view name,
                            std::optional<u64> size) {
  constexpr std::array<std::string_view, 7> left_out = {
      "$ATTRIBUTE_LIST",   "$BITMAP",     "$EA",           "$EA_INFORMATION",
      "$INDEX_ALLOCATION", "$INDEX_ROOT", "$REPARSE_POINT"};
  if (std::ranges::find(left_out, type) != left_out.end()) return;
  text += fmt::format("{} {} {}\n", type, name, size ? std::to_string(*size) : "?");
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
  set_text(name.name, row.name);
  name.path = row.exact_path();
  name.short_name = row.short_name ? to_exact(row.short_name->name) : std::string{};
  name.times.reset();
  if (row.file_name) name.times = row.file_name->times;
  file.times.reset();
  file.attributes.reset();
  if (row.facts.information) {
    file.times = row.facts.information->times;
    file.attributes = row.facts.information->dos_attributes;
  }
  file.owner.reset();
  if (!row.owner_sid.empty()) file.owner = row.owner_sid;
  set_members(row, file);
  file.incomplete = std::ranges::any_of(row.findings, [](const RowFinding& finding) {
    return loses_attributes(finding.code.view());
  });
  if (file.incomplete) forget_lost(file);
  if (row.source->streams_left_out) return file.streams.reset();
  if (!file.streams) file.streams.emplace();
  file.streams->resize(row.streams.size());
  for (std::size_t i = 0; i < row.streams.size(); ++i) {
    const auto& from = row.streams[i];
    auto& stream = (*file.streams)[i];
    set_text(stream.name, from.name);
    stream.size = from.size;
    stream.resident = from.resident;
    stream.compressed = from.compressed;
    stream.encrypted = from.encrypted;
    stream.sparse = from.sparse;
    stream.valid = from.valid;
    const auto extents = row.extents_of(from);
    stream.extents.assign(extents.begin(), extents.end());
  }
}

}  // namespace coldtrace::ntfs
