#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/registry/hive/value.hpp"
#include "fixtures/builders/byte_writer.hpp"

namespace coldtrace::test {

inline constexpr u32 none = 0xffff'ffff;

// A hive of one bin, made cell by cell. Source: M. Suhanov, "Windows registry file format
// specification". Keys are of cells that are told where their root is: at 0x20.
class HiveWriter {
 public:
  HiveWriter() { bins_.write_zeros(0x20); }

  // Where the next cell will be, and one with these bytes.
  [[nodiscard]] u32 next() const { return static_cast<u32>(bins_.size()); }
  u32 add(core::ByteView bytes) {
    const auto at = next();
    const auto size = (bytes.size() + 4 + 7) / 8 * 8;
    bins_.write_u32(-u64{size}).write_bytes(bytes).pad_to(at + size);
    return at;
  }

  struct KeySpec {
    std::string name;
    u32 parent = 0x20, subkeys = 0, subkey_list = none, values = 0, value_list = none;
    u16 flags = 0x20;  // the name is of bytes
  };
  u32 add_key(const KeySpec& key) { return add(key_bytes(key)); }
  void put_key(u32 at, const KeySpec& key) { bins_.patch_bytes(at + 4, key_bytes(key)); }

  u32 add_list(std::string_view signature, const std::vector<u32>& cells) {
    fixtures::ByteWriter list;
    list.write_text(signature).write_u16(cells.size());
    for (const auto cell : cells) {
      list.write_u32(cell);
      if (signature == "lf" || signature == "lh") list.write_u32(0x1234'5678);
    }
    return add(list.view());
  }

  // Data of up to four bytes lies in the place of its offset.
  u32 add_value(std::string_view name, registry::ValueType type, u32 size, u32 data,
                u16 flags = 1) {
    fixtures::ByteWriter value;
    value.write_text("vk").write_u16(name.size()).write_u32(size).write_u32(data);
    value.write_u32(static_cast<u32>(type)).write_u16(flags).write_u16(0).write_text(name);
    return add(value.view());
  }
  u32 add_words(const std::vector<u32>& words) {
    fixtures::ByteWriter list;
    for (const auto word : words) list.write_u32(word);
    return add(list.view());
  }

  fixtures::ByteWriter& bins() { return bins_; }

  [[nodiscard]] std::vector<std::byte> bytes(u32 minor = 5) const {
    auto bins = bins_;
    bins.align(4096);
    bins.patch_bytes(
        0, fixtures::ByteWriter{}.write_text("hbin").write_u32(0).write_u32(bins.size()).view());
    fixtures::ByteWriter out;
    out.write_text("regf").write_u32(7).write_u32(7).write_u64(0).write_u32(1).write_u32(minor);
    out.write_u32(0).write_u32(1).write_u32(0x20).write_u32(bins.size()).write_u32(1).pad_to(4096);
    return out.write_bytes(bins.view()).bytes();
  }

 private:
  static std::vector<std::byte> key_bytes(const KeySpec& key) {
    fixtures::ByteWriter out;
    out.write_text("nk").write_u16(key.flags).write_zeros(12).write_u32(key.parent);
    out.write_u32(key.subkeys).write_u32(0).write_u32(key.subkey_list).write_u32(none);
    out.write_u32(key.values).write_u32(key.value_list).write_zeros(28);
    out.write_u16(key.name.size()).write_u16(0).write_text(key.name);
    return out.bytes();
  }

  fixtures::ByteWriter bins_;
};

}  // namespace coldtrace::test
