#include "coldtrace/registry/hive/key.hpp"

#include <algorithm>
#include <unordered_set>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::registry {
namespace {

using core::Fault;
using core::ParseError;

constexpr std::size_t deepest_path = 512;  // keys; Windows makes no deeper ones
constexpr u32 no_cell = 0xffffffff;
constexpr u16 value_signature = 0x6b76;  // "vk"
constexpr u16 longest_name = 510;        // bytes; MS Learn, "Registry element size limits"

// Names are of UTF-16 units, or of bytes where all of these are below 256.
std::string to_name(core::ByteView bytes, bool compressed) {
  if (!compressed) return core::decode_exact(bytes);
  std::string name;
  for (const auto byte : bytes) {
    const auto unit = static_cast<unsigned char>(byte);
    if (unit < 0x80) {
      name += static_cast<char>(unit);
    } else {
      name += static_cast<char>(0xc0 | unit >> 6);
      name += static_cast<char>(0x80 | (unit & 0x3f));
    }
  }
  return name;
}

}  // namespace

std::string lower(std::string_view text) {
  return core::to_lower(text);
}

bool is_same_name(std::string_view left, std::string_view right) {
  return core::equal_ignoring_case(left, right);
}

core::Result<Key> Key::read_root(core::Borrowed<Hive> given, std::string_view path) {
  const auto& hive = given.get();
  auto key = COLDTRACE_TRY(read(hive, hive.base().root, nullptr));
  key.path_ = path;
  return key;
}

core::Result<Key> Key::read(const Hive& hive, u32 cell, const Key* parent) {
  const auto bytes = COLDTRACE_TRY(hive.cell(cell));
  core::Reader reader{bytes, "key node", Hive::place(cell) + 4};
  reader.expect<u16>(0x6b6e, "Signature");  // "nk"
  const auto flags = reader.read_u16("Flags");
  reader.skip(12, "LastWritten");
  const auto parent_at = reader.offset();
  const auto own_parent = reader.read_u32("Parent");
  Key key{hive, cell};
  key.subkey_count_ = reader.read_u32("NumberOfSubkeys");
  reader.skip(4, "NumberOfVolatileSubkeys");
  key.subkey_list_ = reader.read_u32("SubkeysListOffset");
  reader.skip(4, "VolatileSubkeysListOffset");
  key.value_count_ = reader.read_u32("NumberOfKeyValues");
  key.value_list_ = reader.read_u32("KeyValuesListOffset");
  reader.skip(28, "KeySecurityOffset");
  const auto name_at = reader.offset();
  const auto name_size = reader.read_u16("KeyNameLength");
  reader.skip(2, "ClassNameLength");
  const auto name = reader.take(name_size, "KeyName");
  if (parent && reader.ok() && own_parent != parent->cell_)
    reader.reject(Fault::bad_value, parent_at, "Parent", parent->cell_, own_parent);
  if (name_size > longest_name)  // each path below would have it
    reader.reject(Fault::limit, name_at, "KeyNameLength", longest_name, name_size);
  if (!reader.ok()) return core::fail(reader.error());
  constexpr u16 compressed_name = 0x20;
  key.name_ = to_name(name, (flags & compressed_name) != 0);
  if (parent) key.path_ = parent->path_ + '\\' + key.name_;
  return key;
}

// Calls visit(cell) for each subkey, until it returns false.
template <class Visit>
void Key::visit_subkeys(Visit&& visit) const {
  // Of a key without subkeys there is no list: a count of 0 beside one is damaged.
  if (subkey_count_ == 0 && subkey_list_ == no_cell) return;
  u64 found = 0;
  std::unordered_set<u32> seen;
  bool going = true;
  const auto visit_list = [&](auto& self, u32 list, bool may_branch) -> void {
    const auto bytes = hive_->cell(list);
    if (!bytes) return hive_->damaged(bytes.error());
    core::Reader reader{*bytes, "subkeys list", Hive::place(list) + 4};
    const auto signature_at = reader.offset();
    const auto signature = reader.read_u16("Signature");
    const u32 count = reader.read_u16("NumberOfElements");
    const bool plain = signature == 0x696c;                          // "li"
    const bool hinted = signature == 0x666c || signature == 0x686c;  // "lf", "lh"
    const bool branches = signature == 0x6972 && may_branch;         // "ri"
    if (reader.ok() && !plain && !hinted && !branches)
      reader.reject(Fault::bad_magic, signature_at, "Signature", 0x686c, signature);
    for (u32 i = 0; going && reader.ok() && i < count; ++i) {
      const auto element_at = reader.offset();
      const auto cell = reader.read_u32("Element");
      if (hinted) reader.skip(4, "Hint");
      if (!reader.ok() || !hive_->spend_elements(1)) break;
      if (!seen.insert(cell).second) {
        hive_->damaged(
            {Fault::loop, element_at, "subkeys list", "Element", core::not_one_number, cell});
      } else if (branches) {
        self(self, cell, false);
      } else {
        ++found;
        going = visit(cell);
      }
    }
    if (!reader.ok()) hive_->damaged(reader.error());
  };
  visit_list(visit_list, subkey_list_, true);
  if (found > subkey_count_ || (going && found < subkey_count_))
    hive_->damaged(
        {Fault::missing, Hive::place(cell_), "key node", "NumberOfSubkeys", subkey_count_, found});
}

std::vector<Key> Key::subkeys() const {
  std::vector<Key> keys;
  visit_subkeys([&](u32 cell) {
    auto key = read(*hive_, cell, this);
    if (key)
      keys.push_back(std::move(*key));
    else
      hive_->damaged(key.error());
    return true;
  });
  return keys;
}

bool Key::is_value(u32 cell) const {
  const auto bytes = hive_->cell(cell);
  return bytes && core::load<u16>(*bytes, 0) == value_signature;
}

u32 Key::count_listed_values(core::ByteView list) const {
  u32 count = 0;
  while (const auto cell = core::load<u32>(list, u64{count} * 4)) {
    if (!hive_->spend_elements(1) || !is_value(*cell)) break;
    ++count;
  }
  return count;
}

template <class Visit>
void Key::visit_values(Visit&& visit) const {
  // Of a key without values there is no list: a count of 0 beside one is damaged.
  if (value_count_ == 0 && value_list_ == no_cell) return;
  const auto list = hive_->cell(value_list_);
  if (!list) return hive_->damaged(list.error());
  const auto count = value_count_ == 0 ? count_listed_values(*list) : value_count_;
  if (value_count_ == 0)
    hive_->damaged({Fault::missing, Hive::place(cell_), "key node", "NumberOfKeyValues", count, 0});
  core::Reader reader{*list, "key values list", Hive::place(value_list_) + 4};
  std::unordered_set<u32> seen;
  for (u32 i = 0; i < count; ++i) {
    const auto element_at = reader.offset();
    const auto cell = reader.read_u32("Element");
    if (!reader.ok()) return hive_->damaged(reader.error());
    if (!hive_->spend_elements(1)) return;
    if (!seen.insert(cell).second)
      hive_->damaged(
          {Fault::loop, element_at, "key values list", "Element", core::not_one_number, cell});
    else if (!visit(cell))
      return;
  }
}

core::Result<std::string> Key::value_name(u32 cell) const {
  const auto bytes = COLDTRACE_TRY(hive_->cell(cell));
  core::Reader reader{bytes, "key value", Hive::place(cell) + 4};
  reader.expect<u16>(value_signature, "Signature");
  const auto size = reader.read_u16("NameLength");
  reader.skip(12, "DataSize");
  const auto flags = reader.read_u16("Flags");
  reader.skip(2, "Spare");
  const auto name = reader.take(size, "Name");
  if (!reader.ok()) return core::fail(reader.error());
  return to_name(name, (flags & 1) != 0);
}

std::optional<Value> Key::read_value(u32 cell) const {
  auto name = value_name(cell);
  if (!name) {
    hive_->damaged(name.error());
    return std::nullopt;
  }
  const auto stored = hive_->cell(cell);
  const auto fields = stored ? core::Fields<16>::at(*stored, 0) : std::optional<core::Fields<16>>{};
  if (!fields) return std::nullopt;
  Value value{.name = std::move(*name), .type = ValueType{fields->get<u32, 12>()}, .data = {}};
  constexpr u32 in_place = 0x80000000;
  const auto size = fields->get<u32, 4>();
  if (size & in_place) {
    const auto bytes = fields->bytes<8, 4>();
    const auto length = std::min<u64>(size & ~in_place, bytes.size());
    value.data.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
  } else if (size > 0) {
    auto data = read_data(fields->get<u32, 8>(), size);
    if (!data) {
      hive_->damaged(data.error());
      return std::nullopt;
    }
    value.data = std::move(*data);
  }
  return value;
}

// Data of more than 16,344 bytes lies in segments, since version 1.4.
core::Result<std::vector<std::byte>> Key::read_data(u32 offset, u32 size) const {
  constexpr u32 most_of_segment = 16344;
  const auto bytes = COLDTRACE_TRY(hive_->cell(offset));
  // Only data that is there as a whole is spent: what is damaged costs no other value.
  const auto limit = ParseError{Fault::limit, Hive::place(offset),  "key value",
                                "DataSize",   core::not_one_number, size};
  core::Reader reader{bytes, "key value", Hive::place(offset) + 4};
  if (size <= most_of_segment || hive_->base().minor_version <= 3) {
    const auto data = reader.take(size, "Data");
    if (!reader.ok()) return core::fail(reader.error());
    if (!hive_->spend_data(size)) return core::fail(limit);
    return std::vector<std::byte>{data.begin(), data.end()};
  }
  core::Reader big{bytes, "big data", Hive::place(offset) + 4};
  big.expect<u16>(0x6264, "Signature");  // "db"
  const auto count = big.read_u16("NumberOfSegments");
  const auto list_cell = big.read_u32("SegmentsListOffset");
  if (!big.ok()) return core::fail(big.error());
  core::Reader list{COLDTRACE_TRY(hive_->cell(list_cell)), "list of segments",
                    Hive::place(list_cell) + 4};
  std::vector<core::ByteView> segments;
  std::unordered_set<u32> seen;
  u64 found = 0;
  for (u32 i = 0; i < count && found < size; ++i) {
    const auto element_at = list.offset();
    const auto cell = list.read_u32("Segment");
    if (!list.ok()) return core::fail(list.error());
    if (!hive_->spend_elements(1)) return core::fail(limit);
    if (!seen.insert(cell).second)
      return core::fail(ParseError{Fault::loop, element_at, "list of segments", "Segment",
                                   core::not_one_number, cell});
    const auto segment = COLDTRACE_TRY(hive_->cell(cell));
    segments.push_back(
        segment.first(std::min<u64>({segment.size(), most_of_segment, size - found})));
    found += segments.back().size();
  }
  if (found < size)
    return core::fail(
        ParseError{Fault::truncated, Hive::place(offset), "big data", "Segments", size, found});
  if (!hive_->spend_data(size)) return core::fail(limit);
  std::vector<std::byte> data;
  data.reserve(size);
  for (const auto segment : segments) data.insert(data.end(), segment.begin(), segment.end());
  return data;
}

std::vector<Value> Key::values() const {
  std::vector<Value> values;
  visit_values([&](u32 cell) {
    if (auto value = read_value(cell)) values.push_back(std::move(*value));
    return true;
  });
  return values;
}

std::optional<Key> Key::find(std::string_view path) const {
  std::optional<Key> at = *this;
  for (std::size_t depth = 0; at && !path.empty() && depth < deepest_path; ++depth) {
    const auto part = path.substr(0, path.find('\\'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    std::optional<Key> next;
    at->visit_subkeys([&](u32 cell) {
      auto key = read(*at->hive_, cell, &*at);
      if (!key)
        at->hive_->damaged(key.error());
      else if (is_same_name(key->name_, part))
        next = std::move(*key);
      return !next;
    });
    at = std::move(next);
  }
  return at;
}

std::optional<Value> Key::find_value(std::string_view name) const {
  std::optional<Value> found;
  visit_values([&](u32 cell) {
    const auto own = value_name(cell);
    if (!own || !is_same_name(*own, name)) return true;
    found = read_value(cell);
    return false;
  });
  return found;
}

std::string Key::text(std::string_view name) const {
  return find_text(name).value_or("");
}

std::optional<std::string> Key::find_text(std::string_view name) const {
  const auto value = find_value(name);
  return value && value->is_text() ? std::optional{value->text()} : std::nullopt;
}

std::vector<std::string> Key::texts(std::string_view name) const {
  const auto value = find_value(name);
  return value ? value->texts() : std::vector<std::string>{};
}

std::optional<u64> Key::number(std::string_view name) const {
  const auto value = find_value(name);
  return value ? value->number() : std::nullopt;
}

}  // namespace coldtrace::registry
