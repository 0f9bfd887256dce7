#include <map>
#include <span>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/ntfs_streams_json.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/json_text.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/structures/extended_attributes.hpp"
#include "coldtrace/ntfs/structures/reparse_point.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::FileRow;
using ntfs::Snapshot;
using ntfs::StoredText;

class JsonRows final : public RowFormat {
 public:
  JsonRows(const RowFields& fields, Int64 int64, bool array, const VolumeName& volume,
           const RowContext& context)
      : fields_{fields},
        deleted_{context.deleted},
        int64_{int64},
        array_{array},
        volume_{volume_member(volume, int64)},
        streams_{int64} {}

  void write(const Snapshot& snapshot, const FileRow& row, core::TextBuffer& out) override {
    out_ = &out;
    row_ = &row;
    if (array_) out.append(',');
    out.append(R"({"type":"file")");
    write_names();
    write_record();
    write_times();
    write_metadata();
    if (fields_.contains(RowField::streams)) {
      out.append(R"(,"streams":[)");
      streams_.write(snapshot, row, row.streams, StreamTypes::left_out, out);
      out.append(']');
    }
    if (fields_.contains(RowField::other_streams)) {
      out.append(R"(,"other_streams":[)");
      streams_.write(snapshot, row, row.other_streams, StreamTypes::written, out);
      out.append(']');
    }
    if (fields_.contains(RowField::zone_id)) write_zone_id();
    if (deleted_ != nullptr && fields_.contains(RowField::deleted_at)) write_deleted_at();
    if (fields_.contains(RowField::findings)) write_findings_of_row();
    if (fields_.contains(RowField::volume)) out.append(volume_);
    out.append("}\n");
  }

 private:
  void number(u64 value) { append_json_integer(*out_, value, int64_); }

  void number_or_null(const std::optional<u64>& value) {
    if (value) {
      number(*value);
    } else {
      out_->append("null");
    }
  }

  // Returns false when U+FFFD stands for something.
  bool text(StoredText stored) {
    if (stored.narrow && is_ascii(stored.bytes)) {
      append_json_text(*out_, core::to_chars(stored.bytes));
      return true;
    }
    scratch_.clear();
    const bool valid = ntfs::append_utf8(scratch_, stored);
    append_json_text(*out_, scratch_);
    return valid;
  }

  static bool is_ascii(core::ByteView bytes) {
    std::byte all{0};
    for (const auto byte : bytes) all |= byte;
    return (all & std::byte{0x80}) == std::byte{0};
  }

  void write_names() {
    const auto& row = *row_;
    const bool unnamed = row.name.empty();
    if (fields_.contains(RowField::path)) {
      out_->append(R"(,"path":)");
      if (unnamed) {
        out_->append("null");
      } else {
        write_path();
      }
    }
    if (!fields_.contains(RowField::name)) return;
    out_->append(R"(,"name":)");
    if (unnamed) {
      out_->append("null");
    } else if (!text(row.name)) {
      out_->append(R"(,"name_utf16":")");
      out_->append(ntfs::to_utf16_hex(row.name));
      out_->append('"');
    }
  }

  void write_path() {
    const auto& row = *row_;
    scratch_.clear();
    const bool valid = row.append_path(scratch_);
    append_json_text(*out_, scratch_);
    if (valid) return;
    out_->append(R"(,"path_utf16":")");
    out_->append(ntfs::to_utf16_hex(row.exact_path()));
    out_->append('"');
  }

  void write_reference(ntfs::FileReference reference) {
    out_->append(R"({"record":)");
    number(reference.record);
    out_->append(R"(,"sequence":)");
    out_->append_decimal(u64{reference.sequence});
    out_->append('}');
  }

  void write_record() {
    const auto& row = *row_;
    const auto& source = *row.source;
    if (fields_.contains(RowField::record)) {
      out_->append(R"(,"record":)");
      if (row.file_known())
        number(source.file.record);
      else
        out_->append("null");
    }
    if (fields_.contains(RowField::sequence)) {
      out_->append(R"(,"sequence":)");
      if (row.file_known())
        out_->append_decimal(u64{source.file.sequence});
      else
        out_->append("null");
    }
    if (fields_.contains(RowField::parent)) {
      out_->append(R"(,"parent":)");
      if (row.name.empty()) {
        out_->append("null");
      } else {
        write_reference(row.file_name ? row.file_name->parent : source.parent);
      }
    }
    if (fields_.contains(RowField::state)) {
      out_->append(R"(,"state":")");
      out_->append(to_string(source.state));
      out_->append('"');
    }
    if (fields_.contains(RowField::directory)) {
      out_->append(R"(,"directory":)");
      out_->append(!source.has_record ? "null" : row.facts.directory ? "true" : "false");
    }
    if (fields_.contains(RowField::links)) {
      out_->append(R"(,"links":)");
      if (source.has_record) {
        out_->append_decimal(u64{row.links});
      } else {
        out_->append("null");
      }
    }
    if (fields_.contains(RowField::short_name)) {
      out_->append(R"(,"short_name":)");
      if (!row.short_name) {
        out_->append("null");
      } else if (!text(row.short_name->name)) {
        out_->append(R"(,"short_name_utf16":")");
        out_->append(ntfs::to_utf16_hex(row.short_name->name));
        out_->append('"');
      }
    }
    if (fields_.contains(RowField::attributes)) write_attributes();
  }

  void write_attributes() {
    out_->append(R"(,"attributes":)");
    if (!row_->facts.information) {
      out_->append("null");
      return;
    }
    attribute_names(row_->facts.information->dos_attributes);
  }

  // Volumes have few combinations.
  void attribute_names(u32 bits) {
    auto [known, added] = attributes_.try_emplace(bits);
    if (added) {
      known->second = fmt::format("[");
      for (const auto& name : dos_attribute_names(bits))
        known->second += fmt::format("{}\"{}\"", known->second.size() > 1 ? "," : "", name);
      known->second += ']';
    }
    out_->append(known->second);
  }

  void time(core::FileTime value) {
    if (value.ticks == 0) {
      out_->append("null");
      return;
    }
    out_->append('"');
    out_->append(formatter_.format(value));
    out_->append('"');
  }

  void times(const ntfs::Times& value) {
    out_->append(R"({"created":)");
    time(value.created);
    out_->append(R"(,"modified":)");
    time(value.modified);
    out_->append(R"(,"changed":)");
    time(value.changed);
    out_->append(R"(,"accessed":)");
    time(value.accessed);
    out_->append('}');
  }

  // Mostly two or all of the sets are the same.
  void time_set(std::string_view key, const ntfs::Times* value) {
    out_->append(key);
    if (!value) {
      out_->append("null");
      return;
    }
    for (const auto& known : written_) {
      if (known.value && *known.value == *value) {
        char* const copy = out_->reserve(known.length);
        std::memcpy(copy, out_->view().data() + known.start, known.length);
        out_->commit(known.length);
        return;
      }
    }
    const auto start = out_->size();
    times(*value);
    written_[written_count_++] = {value, start, out_->size() - start};
  }

  void write_times() {
    const auto& row = *row_;
    written_ = {};
    written_count_ = 0;
    if (fields_.contains(RowField::si))
      time_set(R"(,"si":)", row.facts.information ? &row.facts.information->times : nullptr);
    if (fields_.contains(RowField::fn))
      time_set(R"(,"fn":)", row.file_name ? &row.file_name->times : nullptr);
    if (fields_.contains(RowField::index))
      time_set(R"(,"index":)", row.index ? &*row.index : nullptr);
  }

  void write_metadata() {
    const auto& row = *row_;
    const auto& information = row.facts.information;
    if (fields_.contains(RowField::owner_sid)) {
      out_->append(R"(,"owner_sid":)");
      if (row.owner_sid.empty()) {
        out_->append("null");
      } else {
        append_json_text(*out_, row.owner_sid);
      }
    }
    if (fields_.contains(RowField::security_id)) {
      out_->append(R"(,"security_id":)");
      number_or_null(information && information->security_id
                         ? std::optional<u64>{*information->security_id}
                         : std::nullopt);
    }
    if (fields_.contains(RowField::usn)) {
      out_->append(R"(,"usn":)");
      number_or_null(information ? information->usn : std::nullopt);
    }
    if (fields_.contains(RowField::object_id)) {
      out_->append(R"(,"object_id":)");
      if (row.object_id) {
        append_json_text(*out_, core::to_string(*row.object_id));
      } else {
        out_->append("null");
      }
    }
    if (fields_.contains(RowField::reparse)) write_reparse();
    if (fields_.contains(RowField::ea)) write_extended_attributes();
    if (fields_.contains(RowField::record_offset)) {
      out_->append(R"(,"record_offset":)");
      number_or_null(row.record_offset);
    }
    if (fields_.contains(RowField::entry)) write_entry(row.source->entry);
    if (fields_.contains(RowField::size)) {
      const auto* content = row.content();
      out_->append(R"(,"size":)");
      number_or_null(content ? content->size : std::nullopt);
    }
  }

  void write_entry(const std::optional<ntfs::EntryFacts>& entry) {
    if (!entry) return out_->append(R"(,"entry":null)");
    out_->append(R"(,"entry":{"offset":)");
    number(entry->offset);
    out_->append(R"(,"size":)");
    number(entry->size);
    out_->append(R"(,"allocated":)");
    number(entry->allocated);
    out_->append(R"(,"attributes":)");
    attribute_names(entry->attributes);
    out_->append(R"(,"copies":)");
    out_->append_decimal(u64{entry->copies});
    out_->append('}');
  }

  void write_reparse() {
    const auto& row = *row_;
    out_->append(R"(,"reparse":)");
    if (!row.reparse_tag) {
      out_->append("null");
      return;
    }
    out_->append(R"({"tag":)");
    out_->append_decimal(u64{*row.reparse_tag});
    out_->append(R"(,"kind":)");
    const auto kind = ntfs::reparse_tag_name(*row.reparse_tag);
    if (kind.empty()) {
      out_->append("null");
    } else {
      append_json_text(*out_, kind);
    }
    if (!row.reparse_target)
      out_->append(R"(,"target":null)");
    else if (ntfs::has_byte_target(*row.reparse_tag))
      write_bytes(R"(,"target":)", R"(,"target_bytes":")", *row.reparse_target);
    else
      append_exact_text(*out_, "target", *row.reparse_target);
    out_->append('}');
  }

  // Text that should be UTF-8, and its bytes where it is not.
  void write_bytes(std::string_view text_key, std::string_view bytes_key, std::string_view bytes) {
    out_->append(text_key);
    if (append_json_text(*out_, bytes)) return;
    out_->append(bytes_key);
    out_->append_hex(std::as_bytes(std::span{bytes}));
    out_->append('"');
  }

  void write_extended_attributes() {
    out_->append(R"(,"ea":[)");
    bool first = true;
    ntfs::ExtendedAttributeReader entries{row_->extended_attributes};
    while (const auto entry = entries.next()) {
      if (!first) out_->append(',');
      first = false;
      write_bytes(R"({"name":)", R"(,"name_bytes":")", entry->name);
      out_->append(R"(,"size":)");
      out_->append_decimal(u64{entry->value.size()});
      out_->append('}');
    }
    out_->append(']');
  }

  void write_zone_id() {
    out_->append(R"(,"zone_id":)");
    const auto& zone = row_->zone_id;
    if (!zone) return out_->append("null");
    const auto put = [&](const std::optional<std::string>& value) {
      if (value)
        append_json_text(*out_, *value);
      else
        out_->append("null");
    };
    out_->append(R"({"zone":)");
    number_or_null(zone->zone ? std::optional<u64>{*zone->zone} : std::nullopt);
    out_->append(R"(,"referrer_url":)");
    put(zone->referrer_url);
    out_->append(R"(,"host_url":)");
    put(zone->host_url);
    out_->append(zone->resident ? R"(,"resident":true})" : R"(,"resident":false})");
  }

  void write_deleted_at() {
    out_->append(R"(,"deleted_at":)");
    const auto deleted = deleted_->find(*row_->source);
    if (!deleted) return out_->append("null");
    out_->append(R"({"time":)");
    time(deleted->time);
    out_->append(R"(,"usn":)");
    number(deleted->usn);
    out_->append('}');
  }

  void write_findings_of_row() {
    out_->append(R"(,"findings":[)");
    bool first = true;
    for (const auto& finding : row_->findings) {
      if (!first) out_->append(',');
      first = false;
      out_->append(R"({"code":)");
      append_json_text(*out_, finding.code.view());
      out_->append(R"(,"severity":")");
      out_->append(finding.warning ? "warning" : "info");
      out_->append(R"(","text":)");
      append_json_text(*out_, distinct_text(finding.text));
      out_->append('}');
    }
    out_->append(']');
  }

  struct Written {
    const ntfs::Times* value = nullptr;
    std::size_t start = 0;
    std::size_t length = 0;
  };

  RowFields fields_;
  const ntfs::DeletedTimes* deleted_;
  Int64 int64_;
  bool array_;
  std::string volume_;
  StreamsJson<Quotes::single> streams_;
  core::TextBuffer* out_ = nullptr;
  const FileRow* row_ = nullptr;
  core::FileTimeFormatter formatter_;
  std::map<u32, std::string> attributes_;
  std::array<Written, 3> written_;
  std::size_t written_count_ = 0;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<RowFormat> make_json_rows(const RowFields& fields, Int64 int64, bool array,
                                          const VolumeName& volume, const RowContext& context) {
  return std::make_unique<JsonRows>(fields, int64, array, volume, context);
}

}  // namespace coldtrace::cli
