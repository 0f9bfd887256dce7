#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"

namespace coldtrace::schema_files {

// What a store has of one provider of one file: a record of numbers in base 128, in the order
//   texts, name of the provider, names of levels, tasks, channels, keywords and opcodes,
//   maps, layouts, events
// Each list follows its length; texts, maps and layouts are written once and referred to by index.
// A record may have a base, another record of the provider, whose texts, maps and layouts come
// before its own. See docs/formats/event-schemas.md.

// Things that are written once and then referred to by number; they follow those of a base, which
// has to outlive them.
template <class Key>
class Numbered {
 public:
  explicit Numbered(const Numbered* base) : base_{base} {}

  u64 add(const Key& key) {
    if (base_ != nullptr)
      if (const auto known = base_->numbers_.find(key); known != base_->numbers_.end())
        return known->second;
    const auto first = base_ == nullptr ? 0 : base_->own_.size();
    const auto [place, is_new] = numbers_.try_emplace(key, first + own_.size());
    if (is_new) own_.push_back(&place->first);
    return place->second;
  }
  // Without those of the base, sorted by number.
  [[nodiscard]] const std::vector<const Key*>& own() const { return own_; }

 private:
  const Numbered* base_;  // has none itself
  std::map<Key, u64> numbers_;
  std::vector<const Key*> own_;
};

// The parts of a record on which others may be based.
struct RecordParts {
  using Record = std::vector<std::byte>;

  explicit RecordParts(const RecordParts* base = nullptr)
      : texts{base == nullptr ? nullptr : &base->texts},
        maps{base == nullptr ? nullptr : &base->maps},
        layouts{base == nullptr ? nullptr : &base->layouts} {}

  Numbered<std::string> texts;
  Numbered<Record> maps, layouts;
};

// Events without a schema, because the provider is damaged, are left out; `events` counts the
// others. `parts` are those of the base on entry, those of the record on return.
std::vector<std::byte> write_provider(tracefile::ProviderSchemas& declared, u32& events,
                                      RecordParts& parts);

// The source that the schemas of a record state.
struct SchemaOrigin {
  std::string source;
  std::string version;
};

// Hostile bytes are refused, or give schemas with the same bounds as those of any file. The record
// is at `offset` of the store; an empty `base` means that it has none.
core::Result<std::unique_ptr<tracefile::ProviderSchemas>> read_provider(
    std::vector<std::byte> bytes, const core::Guid& guid, SchemaOrigin origin, u64 offset,
    std::vector<std::byte> base = {});

}  // namespace coldtrace::schema_files
