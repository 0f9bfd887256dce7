#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/registry/hive/hive.hpp"
#include "coldtrace/registry/hive/value.hpp"

namespace coldtrace::registry {

// A key of a hive. The hive has to outlive it. All texts, also of values, are exact text
// (coldtrace/core/utf16.hpp).
class Key {
 public:
  // `path` is the start of all paths of keys: "SYSTEM". Fails if the root is not a key.
  static core::Result<Key> read_root(core::Borrowed<Hive> hive, std::string_view path);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& path() const { return path_; }  // "SYSTEM\Select"

  // In the order of the hive's list. Keys that cannot be read, name another parent or are listed
  // twice are left out, with a finding.
  [[nodiscard]] std::vector<Key> subkeys() const;
  [[nodiscard]] std::vector<Value> values() const;
  // The key's own counts: if lists or what they refer to are damaged, fewer are found; if a count
  // is damaged, perhaps more.
  [[nodiscard]] u64 subkey_count() const { return subkey_count_; }
  [[nodiscard]] u64 value_count() const { return value_count_; }

  // By name, ignoring ASCII case; separators are backslashes: "Control\Class".
  [[nodiscard]] std::optional<Key> find(std::string_view path) const;
  [[nodiscard]] std::optional<Value> find_value(std::string_view name) const;

  // The content of a value; empty or nothing if there is none.
  [[nodiscard]] std::string text(std::string_view name) const;
  // The same, distinguishing an empty value from an absent one.
  [[nodiscard]] std::optional<std::string> find_text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] std::optional<u64> number(std::string_view name) const;

 private:
  Key(const Hive& hive, u32 cell) : hive_{&hive}, cell_{cell} {}
  static core::Result<Key> read(const Hive& hive, u32 cell, const Key* parent);
  template <class Visit>
  void visit_subkeys(Visit&& visit) const;
  template <class Visit>
  void visit_values(Visit&& visit) const;
  [[nodiscard]] bool is_value(u32 cell) const;
  // A list does not store its length: the number of elements up to the first that is not a value.
  [[nodiscard]] u32 count_listed_values(core::ByteView list) const;
  core::Result<std::string> value_name(u32 cell) const;
  std::optional<Value> read_value(u32 cell) const;
  core::Result<std::vector<std::byte>> read_data(u32 offset, u32 size) const;

  const Hive* hive_;
  u32 cell_;
  u32 subkey_count_ = 0;
  u32 subkey_list_ = 0;
  u32 value_count_ = 0;
  u32 value_list_ = 0;
  std::string name_;
  std::string path_;
};

// ASCII letters in lower case, as names of keys, values, services and files are compared here.
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] bool is_same_name(std::string_view left, std::string_view right);

}  // namespace coldtrace::registry
