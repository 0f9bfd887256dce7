#include "cli/trace/export/kind_table.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "cli/sqlite/json_values.hpp"
#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/tracefile/fields/field_shape.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using tracefile::FieldSchema;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view name_of(const Value& name) {
  return {name.GetString(), name.GetStringLength()};
}

const FieldSchema* find_field(const KindTable::Fields& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &FieldSchema::name);
  return found == fields.end() ? nullptr : &*found;
}

// Numbers that JSON has no form for, as lines of events write them.
std::optional<double> infinity_of(const Value& value) {
  if (!value.IsString()) return std::nullopt;
  const std::string_view text{value.GetString(), value.GetStringLength()};
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  if (text == "Infinity") return infinity;
  if (text == "-Infinity") return -infinity;
  return std::nullopt;
}

}  // namespace

std::string plain_sql_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 64)) plain += is_letter(c) || is_digit(c) ? c : '_';
  return plain;
}

std::vector<std::byte> bytes_of_hex(std::string_view hex) {
  return core::parse_hex(hex).value_or(std::vector<std::byte>{});
}

void add_json_member(std::string& json, std::string_view name, std::string_view value) {
  json += json.empty() ? "{" : ",";
  Value text;
  text.SetString(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  json += json_of(text);
  json += ':';
  json += value;
}

KindTable::KindTable(SqliteFile& file, std::string name, const Fields& fields, bool clock_known)
    : file_{file}, name_{std::move(name)}, clock_known_{clock_known} {
  std::vector<std::string> declarations{"event INTEGER PRIMARY KEY REFERENCES event"};
  add_columns(fields, declarations);
  file_.run(
      fmt::format("CREATE TABLE {}({}) STRICT", sql_name(name_), fmt::join(declarations, ", ")));
  rows_ = std::make_unique<SqliteRows>(file_, name_, static_cast<int>(columns_.size() + 1));
}

KindTable::Type KindTable::type_of(const FieldSchema& field) const {
  using tracefile::InType;
  using tracefile::OutType;
  using tracefile::ValueShape;
  const auto shape = tracefile::shape_of(field, clock_known_);
  if (!shape) return Type::text;  // JSON
  switch (*shape) {
    case ValueShape::unsigned_integer:
    case ValueShape::signed_integer:
    case ValueShape::boolean:
      return Type::integer;
    case ValueShape::floating:
      return Type::real;
    default:
      return field.in == InType::binary &&
                     (field.out == OutType::none || field.out == OutType::hex_binary)
                 ? Type::blob
                 : Type::text;
  }
}

void KindTable::add_columns(const Fields& fields, std::vector<std::string>& declarations) {
  constexpr std::array<std::string_view, 4> types = {"INTEGER", "REAL", "TEXT", "BLOB"};
  for (const auto& field : fields) {
    if (columns_.size() >= most_columns) break;
    if (field.padding || by_member_.contains(field.name)) continue;
    auto column = plain_sql_name(field.name);
    if (column.empty()) column = "_";
    const auto base = column;
    for (u64 i = 2; !taken_.insert(core::to_lower(column)).second; ++i)
      column = fmt::format("{}_{}", base, i);
    const auto type = type_of(field);
    by_member_.emplace(field.name, columns_.size());
    columns_.push_back({field.name, type});
    declarations.push_back(
        fmt::format("{} {}", sql_name(column), types[static_cast<std::size_t>(type)]));
  }
}

std::size_t KindTable::find_column(std::string_view member, std::size_t hint) const {
  if (hint < columns_.size() && columns_[hint].member == member) return hint;
  const auto found = by_member_.find(member);
  return found == by_member_.end() ? columns_.size() : found->second;
}

bool KindTable::lacks(const Value& values, const Fields& fields) const {
  if (!values.IsObject() || columns_.size() >= most_columns) return false;
  std::size_t hint = 0;
  for (const auto& value : values.GetObject()) {
    const auto member = name_of(value.name);
    const auto column = find_column(member, hint);
    if (column == columns_.size() && find_field(fields, member) != nullptr) return true;
    hint = column + 1;
  }
  return false;
}

std::size_t KindTable::grow(const Fields& fields) {
  std::vector<std::string> declarations;
  add_columns(fields, declarations);
  rows_.reset();
  for (const auto& declaration : declarations)
    file_.run(fmt::format("ALTER TABLE {} ADD COLUMN {}", sql_name(name_), declaration));
  rows_ = std::make_unique<SqliteRows>(file_, name_, static_cast<int>(columns_.size() + 1));
  return declarations.size();
}

// Texts in columns of numbers and bytes are what their field declares, or another schema's.
bool KindTable::fits(std::string_view member, Type type, const Value& value,
                     const Fields& fields) const {
  if (value.IsNull() || type == Type::text) return true;
  if (type == Type::integer) return value.IsInt64() || value.IsBool();
  if (type == Type::real && value.IsNumber()) return value.IsLosslessDouble();
  const auto* const field = find_field(fields, member);
  if (field == nullptr || type_of(*field) != type || !value.IsString()) return false;
  return type == Type::blob || infinity_of(value);
}

void KindTable::bind(Type type, const Value& value) {
  if (value.IsNull()) {
    rows_->null();
  } else if (type == Type::integer) {
    rows_->integer(value.IsBool() ? i64{value.GetBool()} : value.GetInt64());
  } else if (type == Type::real) {
    rows_->real(value.IsNumber() ? value.GetDouble() : infinity_of(value).value_or(0));
  } else if (type == Type::blob) {
    rows_->blob(bytes_of_hex({value.GetString(), value.GetStringLength()}));
  } else {
    rows_->text(plain_of(value));
  }
}

u64 KindTable::add(i64 event, const Value& values, const Fields& fields, std::string& more) {
  u64 unfit = 0;
  const bool has_room = columns_.size() < most_columns;
  row_.assign(columns_.size(), nullptr);
  std::size_t hint = 0;
  if (values.IsObject()) {
    for (const auto& value : values.GetObject()) {
      const auto member = name_of(value.name);
      const auto column = find_column(member, hint);
      hint = column + 1;
      const bool is_there = column < columns_.size();
      if (is_there && fits(member, columns_[column].type, value.value, fields)) {
        row_[column] = &value.value;
        continue;
      }
      if (is_there || (has_room && find_field(fields, member) != nullptr)) ++unfit;
      add_json_member(more, member, json_of(value.value));
    }
  }
  rows_->integer(event);
  static const Value null;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    bind(columns_[i].type, row_[i] == nullptr ? null : *row_[i]);
  rows_->insert();
  return unfit;
}

}  // namespace coldtrace::cli
