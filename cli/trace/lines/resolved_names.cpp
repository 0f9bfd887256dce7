#include "cli/trace/lines/resolved_names.hpp"

#include <algorithm>

#include "cli/output/exact_text.hpp"
#include "cli/output/json_text.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t least_room = 4096;

}  // namespace

void ResolvedNames::start(std::size_t payload_size) {
  used_ = 0;
  path_.clear();
  lengths_.clear();
  arrays_ = 0;
  room_ = least_room;
  allow(payload_size);
  cut_ = false;
}

void ResolvedNames::begin_structure(std::string_view name) {
  lengths_.push_back(path_.size());
  path_.append(name).push_back('.');
}

void ResolvedNames::end_structure() {
  path_.resize(lengths_.back());
  lengths_.pop_back();
}

ResolvedNames::Entry* ResolvedNames::entry_of(std::string_view field) {
  for (std::size_t i = 0; i < used_; ++i) {
    const std::string_view path = entries_[i].path;
    if (path.size() == path_.size() + field.size() && path.starts_with(path_) &&
        path.ends_with(field))
      return &entries_[i];
  }
  const auto length = path_.size() + field.size();
  if (used_ == most_entries || length > room_) return nullptr;
  room_ -= length;
  if (used_ == entries_.size()) entries_.emplace_back();
  auto& entry = entries_[used_++];
  entry.path.assign(path_).append(field);
  entry.values.clear();
  entry.array = arrays_ > 0;
  entry.named = false;
  entry.count = 0;
  entry.units.clear();
  return &entry;
}

template <class Write>
void ResolvedNames::add_name(std::string_view field, std::size_t size, Write&& write) {
  if (size == 0 && arrays_ == 0) return;
  auto* const entry = entry_of(field);
  if (entry == nullptr || size > room_) {
    cut_ = true;
    size = 0;
  }
  if (entry == nullptr) return;
  room_ -= size;
  if (entry->values.size() > 0) {
    entry->values.append(',');
    entry->array = true;
  }
  if (size == 0)
    entry->values.append("null");
  else if (const auto units = write(entry->values); !units.empty())
    entry->units.emplace_back(entry->count, units);
  ++entry->count;
  entry->named = entry->named || size > 0;
}

void ResolvedNames::add(std::string_view field, std::string_view name) {
  add_name(field, name.size(),
           [&](core::TextBuffer& values) { return append_shown_text(values, name); });
}

void ResolvedNames::add(std::string_view field, const FrameNames::Text& name) {
  add_name(field, name.size, [&](core::TextBuffer& values) {
    values.append(name.json());
    return name.units();
  });
}

bool ResolvedNames::empty() const {
  return std::none_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(used_),
                      [](const Entry& entry) { return entry.named; });
}

bool ResolvedNames::has_entry(std::string_view path) const {
  return std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(used_),
                     [&](const Entry& entry) { return entry.named && entry.path == path; });
}

// A field may have that name too.
void ResolvedNames::append_units_to(core::TextBuffer& json, const Entry& entry) const {
  auto name = entry.path + "_utf16";
  while (has_entry(name)) name += "_2";
  json.append(',');
  append_json_text(json, name);
  json.append(entry.array ? ":[" : ":");
  auto units = entry.units.begin();
  for (std::size_t i = 0; i < entry.count; ++i) {
    if (i > 0) json.append(',');
    if (units == entry.units.end() || units->first != i) {
      json.append("null");
      continue;
    }
    json.append('"');
    json.append(units->second);
    json.append('"');
    ++units;
  }
  if (entry.array) json.append(']');
}

void ResolvedNames::append_to(core::TextBuffer& json) const {
  bool first = true;
  for (std::size_t i = 0; i < used_; ++i) {
    const auto& entry = entries_[i];
    if (!entry.named) continue;
    if (!first) json.append(',');
    first = false;
    append_json_text(json, entry.path);
    json.append(entry.array ? ":[" : ":");
    json.append(entry.values.view());
    if (entry.array) json.append(']');
    if (!entry.units.empty()) append_units_to(json, entry);
  }
}

}  // namespace coldtrace::cli
