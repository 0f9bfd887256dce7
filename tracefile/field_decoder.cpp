#include "tracefile/field_decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/lznt1.hpp"
#include "core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteView;
using Rule = FieldSchema::Rule;

// Elements of nothing could be counted for ever.
constexpr u64 most_empty_elements = 4096;
constexpr std::size_t largest_document = 1 << 20;

class Measure final : public FieldVisitor {
 public:
  void value(const FieldSchema&, const Value&) override {}
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}
};

template <class Visitor>
class FieldDecoder {
 public:
  FieldDecoder(const EventSchema& schema, ByteView payload, unsigned pointer_size, Visitor& visitor)
      : payload_{payload}, pointer_size_{pointer_size}, visitor_{visitor} {
    const auto count = std::min(schema.slots, EventSchema::largest_slot);
    std::fill_n(slots_.begin(), count + std::size_t{1}, u64{0});
  }

  bool fields(const std::vector<FieldSchema>& fields, unsigned depth) {
    for (const auto& field : fields)
      if (!decode(field, depth)) return false;
    return true;
  }

  std::size_t consumed() const { return at_; }

 private:
  std::size_t left() const { return payload_.size() - at_; }

  bool decode(const FieldSchema& field, unsigned depth) {
    if (field.optional && left() == 0) return true;
    if (field.count.rule == Rule::none) return element(field, depth);
    u64 count = std::numeric_limits<u64>::max();
    if (field.count.rule != Rule::rest && !amount(field.count, count)) return false;
    visitor_.begin_array(field);
    const bool complete = elements(field, depth, count);
    visitor_.end_array();
    return complete;
  }

  bool elements(const FieldSchema& field, unsigned depth, u64 count) {
    const bool to_the_end = field.count.rule == Rule::rest;
    for (u64 i = 0; i < count; ++i) {
      if (to_the_end && left() == 0) return true;
      const auto before = at_;
      if (!element(field, depth)) return false;
      if (at_ == before && ++empty_elements_ > most_empty_elements) return false;
    }
    return true;
  }

  bool element(const FieldSchema& field, unsigned depth) {
    if (field.in == InType::structure) {
      if (depth >= deepest_structure) return false;
      visitor_.begin_structure(field);
      const bool complete = fields(field.members, depth + 1);
      visitor_.end_structure();
      return complete;
    }
    return simple(field);
  }

  // False when the amount itself cannot be read.
  bool amount(const FieldSchema::Amount& amount, u64& number) {
    switch (amount.rule) {
      case Rule::fixed:
        number = amount.number;
        return true;
      case Rule::slot:
        number = slots_[amount.number & EventSchema::largest_slot];
        return true;
      case Rule::prefixed:
        if (left() < sizeof(u16)) return false;
        number = *core::load<u16>(payload_, at_);
        at_ += sizeof(u16);
        return true;
      case Rule::none:
      case Rule::rest:
        break;
    }
    number = left();
    return true;
  }

  template <class T>
  bool integer(const FieldSchema& field) {
    if (left() < sizeof(T)) return false;
    T number;
    std::memcpy(&number, payload_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    // Sign extension keeps a negative number negative in 64 bits.
    emit(field, {field.in, field.out, sizeof(T), static_cast<u64>(number), {}});
    return true;
  }

  bool word(const FieldSchema& field) {
    return pointer_size_ == 8 ? integer<u64>(field) : integer<u32>(field);
  }

  void emit(const FieldSchema& field, const Value& value) {
    if (field.slot != 0) slots_[field.slot & EventSchema::largest_slot] = value.number;
    if (!field.padding) visitor_.value(field, value);
  }

  bool bytes(const FieldSchema& field, u64 count, std::size_t terminator = 0) {
    if (count > left()) return false;
    const auto view = payload_.subspan(at_, static_cast<std::size_t>(count));
    at_ += view.size() + std::min(terminator, left() - view.size());
    emit(field, {field.in, field.out, 0, 0, view});
    return true;
  }

  // Without a NUL the rest of the payload is the text: Windows cuts long ones.
  bool terminated_utf16(const FieldSchema& field) {
    const auto rest = payload_.subspan(at_);
    if (rest.size() < 2) return false;
    return bytes(field, core::until_nul_unit(rest.first(rest.size() & ~std::size_t{1})).size(), 2);
  }

  bool terminated_ansi(const FieldSchema& field) {
    const auto rest = payload_.subspan(at_);
    if (rest.empty()) return false;
    const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    return bytes(field, static_cast<u64>(end - rest.begin()), 1);
  }

  bool text(const FieldSchema& field, u64 unit) {
    if (field.length.rule == Rule::none)
      return unit == 2 ? terminated_utf16(field) : terminated_ansi(field);
    u64 length = 0;
    if (!amount(field.length, length) || length > left() / unit) return false;
    const auto whole = payload_.subspan(at_, static_cast<std::size_t>(length * unit));
    // A text of fixed length ends at its first NUL.
    const auto shown =
        unit == 2 ? core::until_nul_unit(whole)
                  : whole.first(static_cast<std::size_t>(
                        std::find(whole.begin(), whole.end(), std::byte{0}) - whole.begin()));
    at_ += whole.size();
    emit(field, {field.in, field.out, 0, 0, shown});
    return true;
  }

  bool counted(const FieldSchema& field, bool big_endian) {
    if (left() < sizeof(u16)) return false;
    const auto low = std::to_integer<u64>(payload_[at_]);
    const auto high = std::to_integer<u64>(payload_[at_ + 1]);
    at_ += sizeof(u16);
    return bytes(field, big_endian ? low << 8 | high : high << 8 | low);
  }

  bool binary(const FieldSchema& field) {
    if (field.out == OutType::ipv6 && field.length.rule == Rule::none) return bytes(field, 16);
    u64 length = 0;
    return amount(field.length, length) && bytes(field, length);
  }

  // u8 revision, u8 count, 6 bytes authority, count times u32.
  bool sid(const FieldSchema& field) {
    if (left() < 8) return false;
    return bytes(field, 8 + 4 * std::to_integer<u64>(payload_[at_ + 1]));
  }

  // Tools that rewrite traces clear the two pointers before a SID.
  bool has_zeroed_token() const {
    const std::size_t token_user = 2 * std::size_t{pointer_size_};
    const auto bytes = core::slice(payload_, at_, token_user + 8);
    if (!bytes) return false;
    const auto zero = [](std::byte b) { return b == std::byte{0}; };
    const auto sid = bytes->subspan(token_user);
    return std::all_of(bytes->begin(), bytes->end() - 8, zero) && sid[0] == std::byte{1} &&
           sid[1] != std::byte{0} && sid[1] <= std::byte{15} &&
           std::all_of(sid.begin() + 2, sid.begin() + 7, zero);
  }

  bool kernel_sid(const FieldSchema& field) {
    const auto first = core::load<u32>(payload_, at_);
    if (!first) return false;
    if (*first == 0 && !has_zeroed_token()) {
      at_ += sizeof(u32);
      emit(field, {InType::null, field.out, 0, 0, {}});
      return true;
    }
    const std::size_t token_user = 2 * std::size_t{pointer_size_};
    if (left() < token_user) return false;
    at_ += token_user;
    return sid(field);
  }

  bool ambiguous_text(const FieldSchema& field) {
    const auto rest = payload_.subspan(at_);
    const bool wide = rest.size() >= 2 && rest.size() % 2 == 0 && rest.back() == std::byte{0} &&
                      rest[rest.size() - 2] == std::byte{0};
    FieldSchema known = field;
    known.in = wide ? InType::utf16 : InType::ansi;
    return wide ? terminated_utf16(known) : terminated_ansi(known);
  }

  bool compressed_text(const FieldSchema& field) {
    const auto size =
        std::min<u64>(slots_[field.length.number & EventSchema::largest_slot], largest_document);
    std::vector<std::byte> plain(static_cast<std::size_t>(size));
    const auto result = core::decompress_lznt1(payload_.subspan(at_), plain, at_);
    if (result.damaged) return false;
    at_ = payload_.size();
    const auto document = core::until_nul_unit(ByteView{plain}.first(result.size));
    emit(field, {InType::utf16, field.out, 0, 0, document});
    return true;
  }

  bool simple(const FieldSchema& field) {
    switch (field.in) {
      case InType::null:
        emit(field, {field.in, field.out, 0, 0, {}});
        return true;
      case InType::utf16:
        return text(field, 2);
      case InType::ansi:
        return text(field, 1);
      case InType::i8:
        return integer<i8>(field);
      case InType::u8:
      case InType::bool8:
      case InType::ansi_char:
        return integer<u8>(field);
      case InType::i16:
        return integer<i16>(field);
      case InType::u16:
      case InType::utf16_char:
        return integer<u16>(field);
      case InType::i32:
        return integer<i32>(field);
      case InType::u32:
      case InType::f32:
      case InType::bool32:
      case InType::hex32:
        return integer<u32>(field);
      case InType::i64:
      case InType::session_time:
        return integer<i64>(field);
      case InType::u64:
      case InType::f64:
      case InType::file_time:
      case InType::hex64:
        return integer<u64>(field);
      case InType::pointer:
      case InType::size:
        return word(field);
      case InType::binary:
        return binary(field);
      case InType::guid:
      case InType::system_time:
        return bytes(field, 16);
      case InType::sid:
        return sid(field);
      case InType::kernel_sid:
        return kernel_sid(field);
      case InType::counted_utf16:
      case InType::counted_ansi:
      case InType::counted_binary:
      case InType::tdh_counted_utf16:
      case InType::tdh_counted_ansi:
        return counted(field, false);
      case InType::reversed_counted_utf16:
      case InType::reversed_counted_ansi:
        return counted(field, true);
      case InType::unterminated_utf16:
      case InType::unterminated_ansi:
        return bytes(field, left());
      case InType::hex_dump:
        return hex_dump(field);
      case InType::text:
        return ambiguous_text(field);
      case InType::lznt1_utf16:
        return compressed_text(field);
      case InType::structure:
        break;
    }
    return false;
  }

  // u32 count of bytes before it.
  bool hex_dump(const FieldSchema& field) {
    const auto count = core::load<u32>(payload_, at_);
    if (!count) return false;
    at_ += sizeof(u32);
    return bytes(field, *count);
  }

  ByteView payload_;
  unsigned pointer_size_;
  Visitor& visitor_;
  std::size_t at_ = 0;
  u64 empty_elements_ = 0;
  std::array<u64, EventSchema::largest_slot + 1> slots_;  // those that the schema has are set
};

template <class Visitor>
DecodeResult run(const EventSchema& schema, ByteView payload, unsigned pointer_size,
                 Visitor& visitor) {
  FieldDecoder<Visitor> decoder{schema, payload, pointer_size, visitor};
  const bool complete = decoder.fields(schema.fields, 0);
  const auto consumed = decoder.consumed();
  if (!complete) return {Decoded::partial, consumed};
  return {consumed == payload.size() ? Decoded::exact : Decoded::trailing, consumed};
}

}  // namespace

std::string_view to_string(Decoded decoded) {
  switch (decoded) {
    case Decoded::exact:
      return "exact";
    case Decoded::trailing:
      return "trailing";
    case Decoded::partial:
      return "partial";
    case Decoded::raw:
      return "raw";
  }
  return "raw";
}

DecodeResult decode_fields(const EventSchema& schema, ByteView payload, unsigned pointer_size,
                           FieldVisitor& visitor) {
  return run(schema, payload, pointer_size, visitor);
}

DecodeResult measure_fields(const EventSchema& schema, ByteView payload, unsigned pointer_size) {
  Measure visitor;
  return run(schema, payload, pointer_size, visitor);
}

}  // namespace coldtrace::tracefile
