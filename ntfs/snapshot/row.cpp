#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

std::string_view to_string(State state) {
  switch (state) {
    case State::live:
      return "live";
    case State::deleted:
      return "deleted";
    case State::detached:
      return "detached";
    case State::unreachable:
      return "unreachable";
    case State::stale:
      return "stale";
    case State::slack:
      return "slack";
    case State::unnamed:
      return "unnamed";
  }
  return "unknown";
}

std::optional<State> to_state(std::string_view text) {
  for (std::size_t i = 0; i < state_count; ++i)
    if (to_string(static_cast<State>(i)) == text) return static_cast<State>(i);
  return std::nullopt;
}

void FileRow::clear() {
  source = nullptr;
  parent_path = {};
  file_name = nullptr;
  short_name = nullptr;
  name = {};
  index.reset();
  owner_sid = {};
  object_id.reset();
  reparse_tag.reset();
  reparse_target.reset();
  extended_attributes = {};
  zone_id.reset();
  record_offset.reset();
  content_size.reset();
  streams.clear();
  other_streams.clear();
  extents.clear();
  fixup_positions.clear();
  findings.clear();
}

bool FileRow::is_root() const {
  return source->file.record == root_record && source->parent.record == 0 && file_known();
}

std::string FileRow::path() const {
  std::string text;
  append_path(text);
  return text;
}

bool FileRow::append_path(std::string& text) const {
  if (name.empty()) return true;
  const bool valid = is_root() || append_utf8(text, parent_path);
  text += '/';
  return (is_root() || append_utf8(text, name)) && valid;
}

std::string FileRow::exact_path() const {
  if (name.empty()) return {};
  std::string text{is_root() ? std::string_view{} : parent_path};
  text += '/';
  if (!is_root()) append_exact(text, name);
  return text;
}

const StreamRow* FileRow::content() const {
  for (const auto& stream : streams)
    if (stream.name.empty()) return &stream;
  return nullptr;
}

}  // namespace coldtrace::ntfs
