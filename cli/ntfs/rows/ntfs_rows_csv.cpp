#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/ntfs_streams_json.hpp"
#include "cli/output/csv_text.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/structures/reparse_point.hpp"

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
    {RowField::zone_id, "zone_id,zone_referrer_url,zone_host_url"},
    {RowField::deleted_at, "deleted_time,deleted_usn"},
    {RowField::findings, "findings"},
    {RowField::volume, volume_columns},
};

// Behind all others.
constexpr Column last_columns[] = {
    {RowField::name, "name_utf16"},
    {RowField::reparse, "reparse_kind"},
    {RowField::path, "path_utf16"},
    {RowField::short_name, "short_name_utf16"},
    {RowField::reparse, "reparse_target_utf16,reparse_target_bytes"},
};

std::string shown_target(const ntfs::FileRow& row) {
  return ntfs::has_byte_target(*row.reparse_tag) ? core::to_valid_utf8(*row.reparse_target)
                                                 : core::shown_text(*row.reparse_target);
}

class CsvRows final : public RowFormat {
 public:
  CsvRows(const RowFields& fields, Int64 int64, std::optional<u64> longest_cell,
          const VolumeName& volume, const RowContext& context)
      : longest_cell_{longest_cell},
        deleted_{context.deleted},
        volume_{volume_cells(volume)},
        streams_{int64} {
    for (const auto& column : columns)
      if (fields.contains(column.field)) fields_.push_back(column.field);
    has_name_ = fields.contains(RowField::name);
    has_reparse_ = fields.contains(RowField::reparse);
    has_path_ = fields.contains(RowField::path);
    has_short_name_ = fields.contains(RowField::short_name);
    for (const auto field : {RowField::ea, RowField::findings}) {
      const auto& name = row_field_names()[static_cast<std::size_t>(field)];
      nested_.push_back({field, make_json_rows(RowFields{{name}}, int64, false, volume, {}),
                         std::string_view{R"({"type":"file","":)"}.size() + name.size()});
    }
  }

  void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
             core::TextBuffer& out) override;

 private:
  // A cell of text; in quotes where it needs them.
  void text(std::string_view value) {
    if (needs_csv_quotes(value))
      quoted(value);
    else
      plain(value);
  }

  // A cell of text that never needs quotes.
  void plain(std::string_view value) {
    if (fits(value)) out_->append(value);
  }

  void quoted(std::string_view value) {
    if (!fits(value)) return;
    out_->append('"');
    append_doubled_quotes(*out_, value);
    out_->append('"');
  }

  bool fits(std::string_view value) { return fits(value.size()); }
  bool fits(std::size_t size) {
    if (!longest_cell_ || size <= *longest_cell_) return true;
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

  void streams(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
               const std::vector<ntfs::StreamRow>& streams, StreamTypes types) {
    if (streams.empty()) return plain("[]");
    const auto start = out_->size();
    out_->append("\"[");
    streams_.write(snapshot, row, streams, types, *out_);
    out_->append("]\"");
    if (!longest_cell_) return;
    const auto cell = out_->view().substr(start);
    const auto quotes = static_cast<std::size_t>(std::ranges::count(cell, '"'));
    if (!fits(cell.size() - quotes / 2 - 1)) out_->shrink_to(start);
  }

  // The value of one member as the NDJSON line has it.
  void json(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row, RowField field) {
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
    plain(known->second);
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

  void zone_id(const std::optional<ntfs::ZoneIdentifier>& zone) {
    if (!zone) return out_->append(",,");
    if (zone->zone) out_->append_decimal(u64{*zone->zone});
    for (const auto& url : {zone->referrer_url, zone->host_url}) {
      out_->append(',');
      if (url) text(*url);
    }
  }

  void deleted_at(const ntfs::RowSource& source) {
    const auto deleted = deleted_ != nullptr ? deleted_->find(source) : std::nullopt;
    if (deleted) plain(formatter_.format(deleted->time));
    out_->append(',');
    if (deleted) out_->append_decimal(deleted->usn);
  }

  void last_cells(const ntfs::FileRow& row) {
    if (has_name_) {
      path_.clear();
      if (!ntfs::append_utf8(path_, row.name)) plain(ntfs::to_utf16_hex(row.name));
      out_->append(',');
    }
    if (has_reparse_) {
      if (row.reparse_tag) plain(ntfs::reparse_tag_name(*row.reparse_tag));
      out_->append(',');
    }
    if (has_path_) {
      path_.clear();
      if (!row.append_path(path_)) plain(ntfs::to_utf16_hex(row.exact_path()));
      out_->append(',');
    }
    if (has_short_name_) {
      path_.clear();
      if (row.short_name && !ntfs::append_utf8(path_, row.short_name->name))
        plain(ntfs::to_utf16_hex(row.short_name->name));
      out_->append(',');
    }
    if (has_reparse_) target_cells(row);
  }

  // The units or the bytes of a target that its text does not show.
  void target_cells(const ntfs::FileRow& row) {
    const std::string_view target = row.reparse_target ? *row.reparse_target : std::string_view{};
    const bool shown = core::is_valid_utf8(target);
    const bool is_bytes = row.reparse_tag && ntfs::has_byte_target(*row.reparse_tag);
    if (!shown && !is_bytes) plain(ntfs::to_utf16_hex(target));
    out_->append(',');
    if (!shown && is_bytes) plain(core::to_hex(std::as_bytes(std::span{target})));
    out_->append(',');
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

  std::vector<RowField> fields_;  // in the order of the columns
  bool has_name_ = false;
  bool has_reparse_ = false;
  bool has_path_ = false;
  bool has_short_name_ = false;
  std::optional<u64> longest_cell_;
  const ntfs::DeletedTimes* deleted_;
  std::string volume_;
  u64 left_out_ = 0;
  StreamsJson<Quotes::doubled> streams_;
  std::vector<Nested> nested_;
  core::TextBuffer* out_ = nullptr;
  core::TextBuffer json_;
  std::string path_;
  std::map<u32, std::string> attributes_;
  core::FileTimeFormatter formatter_;
  std::array<Written, 3> written_;
  std::size_t written_count_ = 0;  // in this row
};

inline void CsvRows::write_column(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
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
      return plain(row.owner_sid);
    case RowField::security_id:
      if (information && information->security_id)
        out_->append_decimal(u64{*information->security_id});
      return;
    case RowField::usn:
      return number(information ? information->usn : std::nullopt);
    case RowField::object_id:
      if (row.object_id) plain(core::to_string(*row.object_id));
      return;
    case RowField::reparse:
      if (row.reparse_tag) plain(fmt::format("{:#010x}", *row.reparse_tag));
      out_->append(',');
      if (row.reparse_target) text(shown_target(row));
      return;
    case RowField::record_offset:
      return number(row.record_offset);
    case RowField::entry:
      return entry(source.entry);
    case RowField::size:
      if (const auto* content = row.content()) number(content->size);
      return;
    case RowField::streams:
      return streams(snapshot, row, row.streams, StreamTypes::left_out);
    case RowField::other_streams:
      return streams(snapshot, row, row.other_streams, StreamTypes::written);
    case RowField::zone_id:
      return zone_id(row.zone_id);
    case RowField::deleted_at:
      return deleted_at(source);
    case RowField::ea:
      return row.extended_attributes.empty() ? plain("[]") : json(snapshot, row, field);
    case RowField::findings:
      return row.findings.empty() ? plain("[]") : json(snapshot, row, field);
    case RowField::volume:
      return out_->append(volume_);
  }
}

void CsvRows::write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                    core::TextBuffer& out) {
  out_ = &out;
  written_count_ = 0;
  for (const auto field : fields_) {
    write_column(snapshot, row, field);
    out.append(',');
  }
  last_cells(row);
  out.shrink_to(out.size() - 1);
  out.append('\n');
}

}  // namespace

std::string csv_header(const RowFields& fields) {
  std::string header;
  const auto add = [&](const Column& column) {
    if (!fields.contains(column.field)) return;
    if (!header.empty()) header += ',';
    header += column.names;
  };
  std::ranges::for_each(columns, add);
  std::ranges::for_each(last_columns, add);
  return header + '\n';
}

std::unique_ptr<RowFormat> make_csv_rows(const RowFields& fields, Int64 int64,
                                         std::optional<u64> longest_cell, const VolumeName& volume,
                                         const RowContext& context) {
  return std::make_unique<CsvRows>(fields, int64, longest_cell, volume, context);
}

}  // namespace coldtrace::cli
