#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "coldtrace/core/lznt1.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/fields/field_value.hpp"

namespace coldtrace::tracefile {

// Takes one value after the other from a payload, as their types are stored. Everything false
// means that the payload ends inside the value, or does not hold what the type asks for.
class ValueReader {
 public:
  ValueReader(const EventSchema& schema, core::ByteView payload, unsigned pointer_size)
      : payload_{payload}, pointer_size_{pointer_size} {
    const auto count = std::min(schema.slots, EventSchema::largest_slot);
    std::fill_n(slots_.begin(), count + std::size_t{1}, u64{0});
  }

  std::size_t consumed() const { return at_; }
  std::size_t left() const { return payload_.size() - at_; }
  // The payload has at least as much left.
  void skip(std::size_t size) { at_ += size; }

  // To where it was before.
  void rewind(std::size_t consumed) { at_ = consumed; }

  // The number that later amounts refer to.
  void set_slot(u16 slot, u64 number) { slots_[slot & EventSchema::largest_slot] = number; }

  // False when the amount itself cannot be read.
  bool amount(const FieldSchema::Amount& amount, u64& number) {
    switch (amount.rule) {
      case FieldSchema::Rule::fixed:
        number = amount.number;
        return true;
      case FieldSchema::Rule::slot:
        number = slots_[amount.number & EventSchema::largest_slot];
        return true;
      case FieldSchema::Rule::prefixed:
        if (left() < sizeof(u16)) return false;
        number = *core::load<u16>(payload_, at_);
        at_ += sizeof(u16);
        return true;
      case FieldSchema::Rule::none:
      case FieldSchema::Rule::rest:
        break;
    }
    number = left();
    return true;
  }

  // One value that is not a structure and no array. Its view lives until the next call.
  bool read(const FieldSchema& field, Value& value) {
    switch (field.in) {
      case InType::null:
        value = {field.in, field.out, 0, 0, {}};
        return true;
      case InType::utf16:
        return text(field, value, 2);
      case InType::ansi:
        return text(field, value, 1);
      case InType::i8:
        return integer<i8>(field, value);
      case InType::u8:
      case InType::bool8:
      case InType::ansi_char:
        return integer<u8>(field, value);
      case InType::i16:
        return integer<i16>(field, value);
      case InType::u16:
      case InType::utf16_char:
        return integer<u16>(field, value);
      case InType::i32:
        return integer<i32>(field, value);
      case InType::u32:
      case InType::f32:
      case InType::bool32:
      case InType::hex32:
        return integer<u32>(field, value);
      case InType::i64:
      case InType::session_time:
        return integer<i64>(field, value);
      case InType::u64:
      case InType::f64:
      case InType::file_time:
      case InType::hex64:
        return integer<u64>(field, value);
      case InType::pointer:
      case InType::size:
        // What C puts between four bytes and a pointer.
        if (field.padding) return bytes(field, value, pointer_size_ - sizeof(u32));
        return word(field, value);
      case InType::binary:
        return binary(field, value);
      case InType::guid:
      case InType::system_time:
        return bytes(field, value, 16);
      case InType::sid:
        return sid(field, value);
      case InType::kernel_sid:
        return kernel_sid(field, value);
      case InType::counted_utf16:
      case InType::counted_ansi:
      case InType::counted_binary:
      case InType::tdh_counted_utf16:
      case InType::tdh_counted_ansi:
        return counted(field, value, false);
      case InType::reversed_counted_utf16:
      case InType::reversed_counted_ansi:
        return counted(field, value, true);
      case InType::unterminated_utf16:
      case InType::unterminated_ansi:
        return bytes(field, value, left());
      case InType::hex_dump:
        return hex_dump(field, value);
      case InType::text:
        return ambiguous_text(field, value);
      case InType::lznt1_utf16:
        return compressed_text(field, value);
      case InType::structure:
        break;
    }
    return false;
  }

  // As many characters as there are, `count` at most, as one text; returns how many that was.
  u64 read_characters(const FieldSchema& field, u64 count, Value& value) {
    const auto unit = text_unit(field.in, field.out);
    count = std::min<u64>(count, left() / unit);
    const auto whole = payload_.subspan(at_, static_cast<std::size_t>(count * unit));
    at_ += whole.size();
    value = fixed_text(unit == 2 ? InType::utf16 : InType::ansi, field.out, whole);
    return count;
  }

 private:
  using ByteView = core::ByteView;
  using Rule = FieldSchema::Rule;

  static constexpr std::size_t largest_document = 1 << 20;

  template <class T>
  bool integer(const FieldSchema& field, Value& value) {
    if (left() < sizeof(T)) return false;
    T number;
    const auto bytes = payload_.subspan(at_, sizeof(T));
    std::memcpy(&number, bytes.data(), sizeof(T));
    at_ += sizeof(T);
    // Sign extension keeps a negative number negative in 64 bits.
    value = {field.in, field.out, sizeof(T), static_cast<u64>(number), bytes};
    return true;
  }

  bool word(const FieldSchema& field, Value& value) {
    return pointer_size_ == 8 ? integer<u64>(field, value) : integer<u32>(field, value);
  }

  bool bytes(const FieldSchema& field, Value& value, u64 count, std::size_t terminator = 0) {
    if (count > left()) return false;
    const auto view = payload_.subspan(at_, static_cast<std::size_t>(count));
    at_ += view.size();
    if (left() >= terminator) at_ += terminator;
    value = {field.in, field.out, 0, 0, view};
    return true;
  }

  // Without a NUL the rest of the payload is the text: Windows cuts long ones, and some providers
  // leave out the last one. Half a unit behind it is none of it.
  bool terminated_utf16(const FieldSchema& field, Value& value) {
    const auto rest = payload_.subspan(at_);
    if (rest.size() < 2) return false;
    return bytes(field, value,
                 core::until_nul_unit(rest.first(rest.size() & ~std::size_t{1})).size(), 2);
  }

  bool terminated_ansi(const FieldSchema& field, Value& value) {
    const auto rest = payload_.subspan(at_);
    if (rest.empty()) return false;
    const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    return bytes(field, value, static_cast<u64>(end - rest.begin()), 1);
  }

  bool text(const FieldSchema& field, Value& value, u64 unit) {
    if (field.length.rule == Rule::none)
      return unit == 2 ? terminated_utf16(field, value) : terminated_ansi(field, value);
    u64 length = 0;
    if (!amount(field.length, length) || length > left() / unit) return false;
    const auto whole = payload_.subspan(at_, static_cast<std::size_t>(length * unit));
    at_ += whole.size();
    value = fixed_text(field.in, field.out, whole);
    return true;
  }

  // A text of fixed length ends at its first NUL, and usually zeros follow.
  static Value fixed_text(InType in, OutType out, ByteView whole) {
    const auto shown =
        in == InType::utf16
            ? core::until_nul_unit(whole)
            : whole.first(static_cast<std::size_t>(
                  std::find(whole.begin(), whole.end(), std::byte{0}) - whole.begin()));
    const bool has_more = !core::is_zero(whole.subspan(shown.size()));
    return {in, out, 0, 0, shown, has_more ? whole : ByteView{}};
  }

  bool counted(const FieldSchema& field, Value& value, bool big_endian) {
    if (left() < sizeof(u16)) return false;
    const auto low = std::to_integer<u64>(payload_[at_]);
    const auto high = std::to_integer<u64>(payload_[at_ + 1]);
    at_ += sizeof(u16);
    return bytes(field, value, big_endian ? low << 8 | high : high << 8 | low);
  }

  bool binary(const FieldSchema& field, Value& value) {
    if (field.out == OutType::ipv6 && field.length.rule == Rule::none)
      return bytes(field, value, 16);
    u64 length = 0;
    return amount(field.length, length) && bytes(field, value, length);
  }

  // u8 revision, u8 count, 6 bytes authority, count times u32.
  bool sid(const FieldSchema& field, Value& value) {
    if (left() < 8) return false;
    return bytes(field, value, 8 + 4 * std::to_integer<u64>(payload_[at_ + 1]));
  }

  // Tools that rewrite traces clear the two pointers before a SID.
  bool has_zeroed_token() const {
    const std::size_t token_user = 2 * std::size_t{pointer_size_};
    const auto bytes = core::slice(payload_, at_, token_user + 8);
    if (!bytes) return false;
    const auto sid = bytes->subspan(token_user);
    return core::is_zero(bytes->first(token_user)) && sid[0] == std::byte{1} &&
           sid[1] != std::byte{0} && sid[1] <= std::byte{15} && core::is_zero(sid.subspan(2, 5));
  }

  bool kernel_sid(const FieldSchema& field, Value& value) {
    const auto first = core::load<u32>(payload_, at_);
    if (!first) return false;
    if (*first == 0 && !has_zeroed_token()) {
      at_ += sizeof(u32);
      value = {InType::null, field.out, 0, 0, {}};
      return true;
    }
    const std::size_t token_user = 2 * std::size_t{pointer_size_};
    if (left() < token_user) return false;
    at_ += token_user;
    return sid(field, value);
  }

  bool ambiguous_text(const FieldSchema& field, Value& value) {
    const auto rest = payload_.subspan(at_);
    const bool wide = rest.size() >= 2 && rest.size() % 2 == 0 && rest.back() == std::byte{0} &&
                      rest[rest.size() - 2] == std::byte{0};
    FieldSchema known = field;
    known.in = wide ? InType::utf16 : InType::ansi;
    return wide ? terminated_utf16(known, value) : terminated_ansi(known, value);
  }

  bool compressed_text(const FieldSchema& field, Value& value) {
    const auto told = slots_[field.length.number & EventSchema::largest_slot];
    document_.resize(static_cast<std::size_t>(std::min<u64>(told, largest_document)));
    const auto result = core::decompress_lznt1(payload_.subspan(at_), document_, at_);
    if (result.damaged || result.size != told) return false;
    at_ = payload_.size();
    value = fixed_text(InType::utf16, field.out, ByteView{document_}.first(result.size));
    return true;
  }

  // u32 count of bytes before it.
  bool hex_dump(const FieldSchema& field, Value& value) {
    const auto count = core::load<u32>(payload_, at_);
    if (!count) return false;
    at_ += sizeof(u32);
    return bytes(field, value, *count);
  }

  ByteView payload_;
  unsigned pointer_size_;
  std::size_t at_ = 0;
  std::vector<std::byte> document_;                       // unpacked
  std::array<u64, EventSchema::largest_slot + 1> slots_;  // those that the schema has are set
};

}  // namespace coldtrace::tracefile
