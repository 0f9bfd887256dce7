#include "cli/ntfs_rows.hpp"
#include "cli/text.hpp"
#include "core/file_time.hpp"
#include "core/guid.hpp"

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
    {RowField::streams, "size,streams"},
    {RowField::other_streams, "other_streams"},
    {RowField::findings, "findings"},
};

class CsvRows final : public RowFormat {
 public:
  CsvRows(const RowFields& fields, Int64 int64) : fields_{fields}, int64_{int64} {}

  void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
             core::TextBuffer& out) override {
    out_ = &out;
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
  void text(std::string_view value) { out_->append(csv_field(value)); }

  void number(const std::optional<u64>& value) {
    if (value) out_->append_decimal(u64{*value});
  }

  void times(const ntfs::Times* value) {
    const auto put = [&](core::FileTime time) {
      if (value && time.ticks != 0) out_->append(formatter_.format(time));
    };
    const ntfs::Times shown = value ? *value : ntfs::Times{};
    put(shown.created);
    out_->append(',');
    put(shown.modified);
    out_->append(',');
    put(shown.changed);
    out_->append(',');
    put(shown.accessed);
  }

  // The value of one member as the NDJSON line has it.
  void json(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row, RowField field) {
    const auto& name = row_field_names()[static_cast<std::size_t>(field)];
    const auto rows = make_json_rows(RowFields{{name}}, int64_, false);
    json_.clear();
    rows->write(snapshot, row, json_);
    auto value = json_.view();
    value.remove_prefix(std::string_view{R"({"type":"file","":)"}.size() + name.size());
    value.remove_suffix(2);
    text(value);
  }

  void write_column(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row, RowField field);

  RowFields fields_;
  Int64 int64_;
  core::TextBuffer* out_ = nullptr;
  core::TextBuffer json_;
  core::FileTimeFormatter formatter_;
};

void CsvRows::write_column(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                           RowField field) {
  const auto& source = *row.source;
  const auto& information = row.facts.information;
  switch (field) {
    case RowField::path:
      return text(row_path(row));
    case RowField::name:
      return text(ntfs::to_utf8(row.name));
    case RowField::record:
      return out_->append_decimal(u64{source.file.record});
    case RowField::sequence:
      return out_->append_decimal(u64{source.file.sequence});
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
    case RowField::attributes: {
      std::string joined;
      if (information)
        for (const auto& name : dos_attribute_names(information->dos_attributes))
          joined += (joined.empty() ? "" : " ") + name;
      return text(joined);
    }
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
    case RowField::streams:
      if (const auto* content = row.content()) out_->append_decimal(u64{content->size});
      out_->append(',');
      return json(snapshot, row, field);
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

std::unique_ptr<RowFormat> make_csv_rows(const RowFields& fields, Int64 int64) {
  return std::make_unique<CsvRows>(fields, int64);
}

}  // namespace coldtrace::cli
