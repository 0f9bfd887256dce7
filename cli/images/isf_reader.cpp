#include "cli/images/isf_reader.hpp"

#include <set>

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include "cli/command/checked_allocator.hpp"
#include "cli/output/json_number.hpp"

namespace coldtrace::cli {
namespace {

using pe::IsfTable;
using Number = IsfTable::Number;

// Takes the parser's events; what is not part of a table is passed over.
class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  IsfTable table;
  std::string failure;  // why the parser was stopped

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_ = {text, size};
    return true;
  }
  bool StartObject() {
    const auto place = ignored_ > 0 ? Place::ignored : next_place();
    if (!deepen()) return false;
    if (place == Place::ignored) {
      ++ignored_;
      return true;
    }
    if (!begin(place)) return fail(fmt::format("more than {} entries of one kind", most));
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    --depth_;
    if (ignored_ > 0)
      --ignored_;
    else
      end();
    return true;
  }
  bool StartArray() {
    if (!take_number(std::nullopt)) return false;
    ++ignored_;
    return deepen();
  }
  bool EndArray(rapidjson::SizeType) {
    --depth_;
    --ignored_;
    return true;
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return ignored_ > 0 || take_text({text, size});
  }
  bool Bool(bool value) {
    if (ignored_ == 0 && place() == Place::base && key_ == "signed")
      table.bases.back().is_signed = value;
    if (ignored_ == 0 && place() == Place::field && key_ == "anonymous")
      table.fields.back().anonymous = value;
    return take_number(std::nullopt);
  }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Int64(int64_t value) {
    return take_number(IsfTable::Integer{static_cast<u64>(value), value < 0});
  }
  bool Uint64(uint64_t value) { return take_number(IsfTable::Integer{value, false}); }
  bool Double(double) { return take_number(std::nullopt); }
  bool Null() { return take_number(std::nullopt); }

  // The list that a table must have and this one has not; empty where it has all.
  std::string_view missing() const {
    for (const std::string_view name : {"metadata", "base_types", "user_types", "enums", "symbols"})
      if (!seen_.contains(name)) return name;
    return {};
  }

 private:
  static constexpr std::size_t most = IsfTable::most_entries;
  static constexpr unsigned deepest = 64;

  enum class Place : u8 {
    ignored,
    top,
    metadata,
    windows,
    pdb,
    bases,
    base,
    user_types,
    user_type,
    fields,
    field,
    enumerations,
    enumeration,
    constants,
    symbols,
    symbol,
    type,
  };
  struct Open {
    Place place;
    u32 index;  // of a type
  };

  Place place() const { return open_.empty() ? Place::ignored : open_.back().place; }

  bool fail(std::string why) {
    failure = std::move(why);
    return false;
  }
  bool deepen() {
    return ++depth_ <= deepest || fail(fmt::format("nested deeper than {} levels", deepest));
  }

  // What the object is that begins as the value of the key.
  Place next_place() const {
    if (open_.empty()) return Place::top;
    switch (place()) {
      case Place::top:
        return key_ == "metadata"     ? Place::metadata
               : key_ == "base_types" ? Place::bases
               : key_ == "user_types" ? Place::user_types
               : key_ == "enums"      ? Place::enumerations
               : key_ == "symbols"    ? Place::symbols
                                      : Place::ignored;
      case Place::metadata:
        return key_ == "windows" ? Place::windows : Place::ignored;
      case Place::windows:
        return key_ == "pdb" ? Place::pdb : Place::ignored;
      case Place::bases:
        return Place::base;
      case Place::user_types:
        return Place::user_type;
      case Place::user_type:
        return key_ == "fields" ? Place::fields : Place::ignored;
      case Place::fields:
        return Place::field;
      case Place::field:
        return key_ == "type" ? Place::type : Place::ignored;
      case Place::type:
        return key_ == "subtype" || key_ == "type" ? Place::type : Place::ignored;
      case Place::enumerations:
        return Place::enumeration;
      case Place::enumeration:
        return key_ == "constants" ? Place::constants : Place::ignored;
      case Place::symbols:
        return Place::symbol;
      default:
        return Place::ignored;
    }
  }

  // A place in a list for what begins; false where there is none.
  bool begin(Place place) {
    u32 index = 0;
    switch (place) {
      case Place::metadata:
      case Place::bases:
      case Place::user_types:
      case Place::enumerations:
      case Place::symbols:
        seen_.insert(key_);
        break;
      case Place::base:
        if (!add(table.bases)) return false;
        table.bases.back().name = key_;
        break;
      case Place::user_type:
        if (!add(table.user_types)) return false;
        table.user_types.back().name = key_;
        break;
      case Place::fields:
        table.user_types.back().has_fields = true;
        table.user_types.back().first_field = size_of(table.fields);
        table.user_types.back().end_field = size_of(table.fields);
        break;
      case Place::field:
        if (!add(table.fields)) return false;
        table.fields.back().name = key_;
        break;
      case Place::enumeration:
        if (!add(table.enumerations)) return false;
        table.enumerations.back().name = key_;
        break;
      case Place::constants:
        table.enumerations.back().has_constants = true;
        table.enumerations.back().first_constant = size_of(table.constants);
        table.enumerations.back().end_constant = size_of(table.constants);
        break;
      case Place::symbol:
        if (!add(table.symbols)) return false;
        table.symbols.back().name = key_;
        break;
      case Place::type:
        if (!add(table.types)) return false;
        index = size_of(table.types) - 1;
        if (open_.back().place == Place::field)
          table.fields.back().type = index;
        else
          table.types[open_.back().index].inner = index;
        break;
      default:
        break;
    }
    open_.push_back({place, index});
    return true;
  }

  void end() {
    if (place() == Place::fields) table.user_types.back().end_field = size_of(table.fields);
    if (place() == Place::constants)
      table.enumerations.back().end_constant = size_of(table.constants);
    open_.pop_back();
  }

  bool take_text(std::string_view text) {
    switch (place()) {
      case Place::metadata:
        return put(text, "format", table.format);
      case Place::pdb:
        return put(text, "GUID", table.guid) && put(text, "database", table.database);
      case Place::base:
        return put(text, "kind", table.bases.back().kind) &&
               put(text, "endian", table.bases.back().endian);
      case Place::user_type:
        return put(text, "kind", table.user_types.back().kind);
      case Place::enumeration:
        return put(text, "base", table.enumerations.back().base);
      case Place::symbol:
        return put(text, "linkage_name", table.symbols.back().linkage_name);
      case Place::type: {
        auto& type = table.types[open_.back().index];
        return put(text, "kind", type.kind) && put(text, "name", type.name) &&
               put(text, "base", type.base);
      }
      case Place::user_types:
      case Place::fields:
      case Place::enumerations:
      case Place::constants:
      case Place::symbols:
        return take_number(std::nullopt);
      default:
        return true;
    }
  }

  bool take_number(const Number& number) {
    if (ignored_ > 0) return true;
    switch (place()) {
      case Place::pdb:
        return put(number, "age", table.age) && put(number, "machine_type", table.machine);
      case Place::base:
        return put(number, "size", table.bases.back().size);
      case Place::user_type:
        return put(number, "size", table.user_types.back().size);
      case Place::enumeration:
        return put(number, "size", table.enumerations.back().size);
      case Place::field:
        return put(number, "offset", table.fields.back().offset);
      case Place::symbol:
        return put(number, "address", table.symbols.back().address);
      // Where an object ought to be.
      case Place::user_types:
        return take_entry(table.user_types);
      case Place::fields:
        return take_entry(table.fields);
      case Place::enumerations:
        return take_entry(table.enumerations);
      case Place::symbols:
        return take_entry(table.symbols);
      case Place::constants:
        if (!take_entry(table.constants)) return false;
        table.constants.back().value = number;
        return true;
      case Place::type: {
        auto& type = table.types[open_.back().index];
        return put(number, "count", type.count) && put(number, "bit_position", type.bit_position) &&
               put(number, "bit_length", type.bit_length);
      }
      default:
        return true;
    }
  }

  template <class T>
  bool put(const T& value, std::string_view name, T& to) const {
    if (key_ == name) to = value;
    return true;
  }

  template <class T>
  bool take_entry(std::vector<T>& list) {
    if (!add(list)) return fail(fmt::format("more than {} entries of one kind", most));
    list.back().name = key_;
    return true;
  }

  template <class T>
  static bool add(std::vector<T>& list) {
    if (list.size() == most) return false;
    list.emplace_back();
    return true;
  }
  template <class T>
  static u32 size_of(const std::vector<T>& list) {
    return static_cast<u32>(list.size());
  }

  std::vector<Open> open_;
  std::string_view key_;
  std::set<std::string_view> seen_;
  unsigned depth_ = 0;
  unsigned ignored_ = 0;  // levels of what is passed over
};

}  // namespace

core::Expected<IsfTable, std::string> read_isf(std::string& json) {
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                             rapidjson::kParseValidateEncodingFlag;
  // The parser takes a sequence of UTF-8 that is cut off as far as it would go, past the end.
  constexpr std::size_t longest_sequence = 4;
  json.append(longest_sequence, '\0');
  Handler handler;
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator> reader;
  rapidjson::InsituStringStream stream{json.data()};
  const auto result = reader.Parse<flags>(stream, handler);
  if (!handler.failure.empty())
    return core::fail(fmt::format("a symbol table that cannot be read: {}", handler.failure));
  if (result.IsError())
    return core::fail(fmt::format("not valid JSON, at byte {:#x}: {}", result.Offset(),
                                  rapidjson::GetParseError_En(result.Code())));
  if (const auto missing = handler.missing(); !missing.empty())
    return core::fail(fmt::format(
        "JSON that is not a symbol table of Volatility 3: it has no object '{}'", missing));
  return std::move(handler.table);
}

}  // namespace coldtrace::cli
