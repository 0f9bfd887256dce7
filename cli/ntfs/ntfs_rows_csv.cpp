#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <span>

#include "cli/ntfs/ntfs_rows.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/guid.hpp"

namespace coldtrace::cli {
namespace {

struct Column {
  RowField field;
  std::string_view names;  // one or more, with commas between them
};

constexpr Column columns[] = {
    {RowField::path, "path"},
    {RowField::name, "name"},
    {RowField::record, "record"},
    {RowField::sequence, "sequence"},
    {RowField::parent, "parent_record,parent_sequence"},
    {RowField::state, "state"},
    {RowField::directory, "directory"},
    {RowField::links, "links"},
    {RowField::short_name, "short_name"},
    {RowField::attributes, "attributes"},
    {RowField::si, "si_created,si_modified,si_changed,si_accessed"},
    {RowField::fn, "fn_created,fn_modified,fn_changed,fn_accessed"},
    {RowField::index, "index_created,index_modified,index_changed,index_accessed"},
    {RowField::owner_sid, "owner_sid"},
    {RowField::security_id, "security_id"},
    {RowField::usn, "usn"},
    {RowField::object_id, "object_id"},
    {RowField::reparse, "reparse_tag,reparse_target"},
    {RowField::ea, "ea"},
    {RowField::record_offset, "record_offset"},
    {RowField::entry, "entry_offset,entry_size,entry_allocated,entry_attributes,entry_copies"},
    {RowField::size, "size"},
    {RowField::streams, "streams"},
    {RowField::other_streams, "other_streams"},
    {RowField::findings, "findings"},
};

constexpr u64 ones = 0x0101'0101'0101'0101;
constexpr u64 tops = ones * 0x80;

// The top bit of each of eight characters that is `wanted`. The lowest is right; those above it may
// be wrong.
// Source: Sean Eron Anderson, "Bit Twiddling Hacks", haszero() and hasless().
u64 find(u64 eight, char wanted) {
  const u64 zeros = eight ^ ones * static_cast<unsigned char>(wanted);
  return (zeros - ones) & ~zeros & tops;
}

bool needs_quotes(char c) {
  return c == ',' || c == '"' || c == '\r' || c == '\n';
}

bool needs_quotes(std::string_view value) {
  constexpr std::size_t width = sizeof(u64);
  if (value.size() < width)
    return std::ranges::any_of(value, [](char c) { return needs_quotes(c); });
  u64 found = 0;
  const auto look = [&](std::size_t at) {
    u64 eight;
    std::memcpy(&eight, value.data() + at, width);
    const u64 controls = (eight - ones * 0x20) & ~eight & tops;
    found |= find(eight, ',') | find(eight, '"') | controls;
  };
  for (std::size_t at = 0; at < value.size() - width; at += width) look(at);
  look(value.size() - width);
  // Other controls need none.
  return found != 0 && std::ranges::any_of(value, [](char c) { return needs_quotes(c); });
}

// Copies the text, every quote of it twice, eight characters at once; returns the end. Up to eight
// characters behind that are written too.
char* double_quotes(char* at, std::string_view value) {
  std::size_t i = 0;
  while (value.size() - i >= 8) {
    u64 eight;
    std::memcpy(&eight, value.data() + i, 8);
    std::memcpy(at, &eight, 8);
    const auto plain = static_cast<std::size_t>(std::countr_zero(find(eight, '"'))) / 8;
    at += plain;
    i += plain;
    if (plain == 8) continue;
    *at++ = '"';
    *at++ = '"';
    ++i;
  }
  for (; i < value.size(); ++i) {
    *at = '"';
    at += value[i] == '"' ? 1 : 0;
    *at++ = value[i];
  }
  return at;
}

class CsvRows final : public RowFormat {
 public:
  CsvRows(const RowFields& fields, Int64 int64, std::optional<u64> longest_cell)
      : fields_{fields}, longest_cell_{longest_cell} {
    for (const auto field :
         {RowField::ea, RowField::streams, RowField::other_streams, RowField::findings}) {
      const auto& name = row_field_names()[static_cast<std::size_t>(field)];
      nested_.push_back({field, make_json_rows(RowFields{{name}}, int64, false),
                         std::string_view{R"({"type":"file","":)"}.size() + name.size()});
    }
  }

  void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
             core::TextBuffer& out) override {
    out_ = &out;
    written_count_ = 0;
    bool first = true;
    for (const auto& column : columns) {
      if (!fields_.contains(column.field)) continue;
      if (!first) out.append(',');
      first = false;
      write_column(snapshot, row, column.field);
    }
    out.append('\n');
  }

 private:
  // A cell of text; in quotes where it needs them.
  void text(std::string_view value) {
    if (needs_quotes(value))
      quoted(value);
    else if (fits(value))
      out_->append(value);
  }

  void quoted(std::string_view value) {
    if (!fits(value)) return;
    char* const start = out_->reserve(2 * value.size() + 10);
    *start = '"';
    char* at = double_quotes(start + 1, value);
    *at++ = '"';
    out_->commit(static_cast<std::size_t>(at - start));
  }

  bool fits(std::string_view value) {
    if (!longest_cell_ || value.size() <= *longest_cell_) return true;
    ++left_out_;
    return false;
  }

  void number(const std::optional<u64>& value) {
    if (value) out_->append_decimal(u64{*value});
  }

  // Mostly two or all of a row's sets are the same.
  void times(const ntfs::Times* value) {
    if (!value) return out_->append(",,,");
    for (const auto& known : std::span{written_}.first(written_count_)) {
      if (*known.value != *value) continue;
      char* const copy = out_->reserve(known.length);
      std::memcpy(copy, out_->view().data() + known.start, known.length);
      return out_->commit(known.length);
    }
    const auto put = [&](core::FileTime time) {
      if (time.ticks != 0) out_->append(formatter_.format(time));
    };
    const auto start = out_->size();
    put(value->created);
    out_->append(',');
    put(value->modified);
    out_->append(',');
    put(value->changed);
    out_->append(',');
    put(value->accessed);
    written_[written_count_++] = {value, start, out_->size() - start};
  }

  static bool is_empty(const ntfs::FileRow& row, RowField field) {
    switch (field) {
      case RowField::ea:
        return row.extended_attributes.empty();
      case RowField::streams:
        return row.streams.empty();
      case RowField::other_streams:
        return row.other_streams.empty();
      default:
        return row.findings.empty();
    }
  }

  // The value of one member as the NDJSON line has it.
  void json(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row, RowField field) {
    if (is_empty(row, field)) return text("[]");
    const auto nested = std::ranges::find(nested_, field, &Nested::field);
    json_.clear();
    nested->rows->write(snapshot, row, json_);
    auto value = json_.view();
    value.remove_prefix(nested->prefix);
    value.remove_suffix(2);
    quoted(value);  // all its members have names
  }

  // Volumes have few combinations.
  void attributes(u32 bits) {
    auto [known, added] = attributes_.try_emplace(bits);
    if (added)
      for (const auto& name : dos_attribute_names(bits))
        known->second += (known->second.empty() ? "" : " ") + name;
    text(known->second);
  }

  void entry(const std::optional<ntfs::EntryFacts>& facts) {
    if (!facts) return out_->append(",,,,");
    for (const u64 value : {facts->offset, facts->size, facts->allocated}) {
      out_->append_decimal(value);
      out_->append(',');
    }
    attributes(facts->attributes);
    out_->append(',');
    out_->append_decimal(u64{facts->copies});
  }

  u64 left_out() const override { return left_out_; }

  void write_column(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row, RowField field);

  struct Written {
    const ntfs::Times* value = nullptr;
    std::size_t start = 0;
    std::size_t length = 0;
  };

  // A member whose cell is JSON: its line has nothing but it, behind a prefix.
  struct Nested {
    RowField field;
    std::unique_ptr<RowFormat> rows;
    std::size_t prefix;
  };

  RowFields fields_;
  std::optional<u64> longest_cell_;
  u64 left_out_ = 0;
  std::vector<Nested> nested_;
  core::TextBuffer* out_ = nullptr;
  core::TextBuffer json_;
  std::string path_;
  std::map<u32, std::string> attributes_;
  core::FileTimeFormatter formatter_;
  std::array<Written, 3> written_;
  std::size_t written_count_ = 0;  // in this row
};

void CsvRows::write_column(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                           RowField field) {
  const auto& source = *row.source;
  const auto& information = row.facts.information;
  switch (field) {
    case RowField::path:
      path_.clear();
      row.append_path(path_);
      return text(path_);
    case RowField::name:
      path_.clear();
      ntfs::append_utf8(path_, row.name);
      return text(path_);
    case RowField::record:
      if (row.file_known()) out_->append_decimal(u64{source.file.record});
      return;
    case RowField::sequence:
      if (row.file_known()) out_->append_decimal(u64{source.file.sequence});
      return;
    case RowField::parent: {
      const auto parent = row.file_name ? row.file_name->parent : source.parent;
      if (!row.name.empty()) out_->append_decimal(u64{parent.record});
      out_->append(',');
      if (!row.name.empty()) out_->append_decimal(u64{parent.sequence});
      return;
    }
    case RowField::state:
      return out_->append(to_string(source.state));
    case RowField::directory:
      if (source.has_record) out_->append(row.facts.directory ? "true" : "false");
      return;
    case RowField::links:
      if (source.has_record) out_->append_decimal(u64{row.links});
      return;
    case RowField::short_name:
      if (row.short_name) text(ntfs::to_utf8(row.short_name->name));
      return;
    case RowField::attributes:
      if (information) attributes(information->dos_attributes);
      return;
    case RowField::si:
      return times(information ? &information->times : nullptr);
    case RowField::fn:
      return times(row.file_name ? &row.file_name->times : nullptr);
    case RowField::index:
      return times(row.index ? &*row.index : nullptr);
    case RowField::owner_sid:
      return text(row.owner_sid);
    case RowField::security_id:
      if (information && information->security_id)
        out_->append_decimal(u64{*information->security_id});
      return;
    case RowField::usn:
      return number(information ? information->usn : std::nullopt);
    case RowField::object_id:
      if (row.object_id) text(core::to_string(*row.object_id));
      return;
    case RowField::reparse:
      if (row.reparse_tag) text(fmt::format("{:#010x}", *row.reparse_tag));
      out_->append(',');
      return text(row.reparse_target.value_or(""));
    case RowField::record_offset:
      return number(row.record_offset);
    case RowField::entry:
      return entry(source.entry);
    case RowField::size:
      if (const auto* content = row.content()) number(content->size);
      return;
    case RowField::streams:
    case RowField::ea:
    case RowField::other_streams:
    case RowField::findings:
      return json(snapshot, row, field);
  }
}

}  // namespace

std::string csv_header(const RowFields& fields) {
  std::string header;
  for (const auto& column : columns) {
    if (!fields.contains(column.field)) continue;
    if (!header.empty()) header += ',';
    header += column.names;
  }
  return header + '\n';
}

std::unique_ptr<RowFormat> make_csv_rows(const RowFields& fields, Int64 int64,
                                         std::optional<u64> longest_cell) {
  return std::make_unique<CsvRows>(fields, int64, longest_cell);
}

}  // namespace coldtrace::cli
