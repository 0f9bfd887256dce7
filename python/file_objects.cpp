#include "python/file_objects.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/structures/extended_attributes.hpp"
#include "coldtrace/ntfs/structures/reparse_point.hpp"

namespace coldtrace::python {
namespace {

using ntfs::FileRow;

const Record* file_record = nullptr;
const Record* times_record = nullptr;
const Record* stream_record = nullptr;
const Record* extent_record = nullptr;
const Record* reparse_record = nullptr;
const Record* extended_attribute_record = nullptr;
const Record* entry_record = nullptr;
const Record* zone_id_record = nullptr;
std::array<Object, ntfs::state_count> state_texts{};

}  // namespace

Object file_name_text(ntfs::StoredText name) {
  if (!name.narrow) return utf16_text(name.bytes);
  return checked(PyUnicode_DecodeLatin1(core::to_chars(name.bytes).data(),
                                        static_cast<Py_ssize_t>(name.bytes.size()), nullptr));
}

std::optional<std::size_t> find_file_field(std::string_view name) {
  return file_record->find(name);
}

bool is_zone_id(std::size_t field) {
  return find_file_field("zone_id") == field;
}

ntfs::RowParts parts_of(std::size_t field) {
  constexpr std::array head{
      "path",  "name",  "record",     "sequence", "parent_record", "parent_sequence",
      "state", "links", "short_name", "size",     "record_offset", "directory",
      "si",    "fn",    "index",      "entry",    "attributes",    "security_id",
      "usn",
  };
  constexpr std::array streams{"streams", "other_streams"};
  const auto is_field = [&](std::string_view name) { return find_file_field(name) == field; };
  if (std::ranges::any_of(head, is_field)) return ntfs::RowParts::head;
  if (std::ranges::any_of(streams, is_field)) return ntfs::RowParts::streams;
  return ntfs::RowParts::all;
}

class FileObjects::Maker {
 public:
  explicit Maker(std::vector<std::size_t> fields) : fields_{std::move(fields)} {}

  Object make_file(const FileRow& row) {
    if (!fields_.empty())
      return tuple_of(fields_, [&](std::size_t field) { return make_field(row, field); });
    std::array<Object, Record::most_fields> values;
    for (std::size_t field = 0; field < file_record->size(); ++field)
      values[field] = make_field(row, field);
    return file_record->make(std::span{values}.first(file_record->size()));
  }

 private:
  // Usually two or three of the four times are equal. One object for these saves a quarter of the
  // memory of rows (docs/performance/performance.md).
  static Object make_times(const ntfs::Times& times) {
    const std::array moments{times.created, times.modified, times.changed, times.accessed};
    std::array<Object, moments.size()> values;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      std::size_t first = 0;
      while (moments[first] != moments[i]) ++first;
      values[i] = first < i ? Py_NewRef(values[first]) : time(moments[i]);
    }
    return times_record->make(values);
  }

  static Object make_extent(const ntfs::Extent& extent) {
    const std::array values{number(extent.vcn),
                            extent.lcn ? number(static_cast<u64>(*extent.lcn)) : none(),
                            number(extent.clusters)};
    return extent_record->make(values);
  }

  Object make_stream(const FileRow& row, const ntfs::StreamRow& stream) {
    const Object size = number_or_none(stream.size);
    const std::array values{
        stream.name.empty() ? none() : file_name_text(stream.name),
        size,
        number_or_none(stream.allocated),
        stream.valid == stream.size ? Py_NewRef(size) : number_or_none(stream.valid),
        truth(stream.resident),
        truth(stream.compressed),
        truth(stream.encrypted),
        truth(stream.sparse),
        number_or_none(stream.resident_offset),
        tuple_of(row.extents_of(stream), make_extent),
        number(stream.id),
        tuple_of(row.fixups_of(stream), [](u32 at) { return number(at); }),
        make_type(stream.type)};
    return stream_record->make(values);
  }

  Object make_type(ntfs::AttributeType type) {
    auto& known = types_[static_cast<u32>(type)];
    if (!known) {
      const auto name = to_string(type);
      known =
          to_str(name.empty() ? fmt::format("{:#x}", static_cast<u32>(type)) : std::string{name});
    }
    return py::object{known}.release().ptr();
  }

  static Object make_target(const FileRow& row) {
    return ntfs::has_byte_target(*row.reparse_tag) ? text(*row.reparse_target)
                                                   : exact_text(*row.reparse_target);
  }

  static Object make_reparse(const FileRow& row) {
    if (!row.reparse_tag) return none();
    const std::array values{number(*row.reparse_tag),
                            text_or_none(ntfs::reparse_tag_name(*row.reparse_tag)),
                            row.reparse_target ? make_target(row) : none()};
    return reparse_record->make(values);
  }

  static Object make_extended_attributes(const FileRow& row) {
    std::vector<ntfs::ExtendedAttribute> attributes;
    ntfs::ExtendedAttributeReader entries{row.extended_attributes};
    while (const auto attribute = entries.next()) attributes.push_back(*attribute);
    return tuple_of(attributes, [](const auto& attribute) {
      const std::array values{text(attribute.name), bytes(attribute.value)};
      return extended_attribute_record->make(values);
    });
  }

  static Object make_entry(const ntfs::EntryFacts& entry) {
    const std::array values{number(entry.offset), number(entry.size), number(entry.allocated),
                            number(entry.attributes), number(entry.copies)};
    return entry_record->make(values);
  }

  static Object make_zone_id(const ntfs::ZoneIdentifier& zone) {
    const auto url = [](const std::optional<std::string>& value) {
      return value ? text(*value) : none();
    };
    const std::array values{number_or_none(zone.zone), url(zone.referrer_url), url(zone.host_url),
                            truth(zone.resident)};
    return zone_id_record->make(values);
  }

  // Usually two or all of the sets are equal, and so are those of consecutive rows.
  Object shared_times(const ntfs::Times& times) {
    if (!times_ || times != last_times_) {
      times_ = py::reinterpret_steal<py::object>(make_times(times));
      last_times_ = times;
    }
    return py::object{times_}.release().ptr();
  }

  Object shared_owner(std::string_view sid) {
    if (!owner_ || sid != last_owner_) {
      owner_ = py::reinterpret_steal<py::object>(text_or_none(sid));
      last_owner_ = sid;
    }
    return py::object{owner_}.release().ptr();
  }

  Object make_path(const FileRow& row) {
    path_.clear();
    row.append_path(path_);
    return text(path_);
  }

  // By the index of the field in the record.
  Object make_field(const FileRow& row, std::size_t field) {
    const auto& source = *row.source;
    const auto& information = row.facts.information;
    const bool unnamed = row.name.empty();
    const auto parent = row.file_name != nullptr ? row.file_name->parent : source.parent;
    switch (field) {
      case 0:
        return unnamed ? none() : make_path(row);
      case 1:
        return unnamed ? none() : file_name_text(row.name);
      case 2:
        return row.file_known() ? number(source.file.record) : none();
      case 3:
        return row.file_known() ? number(source.file.sequence) : none();
      case 4:
        return unnamed ? none() : number(parent.record);
      case 5:
        return unnamed ? none() : number(parent.sequence);
      case 6:
        return py::handle{state_texts[static_cast<std::size_t>(source.state)]}.inc_ref().ptr();
      case 7:
        return source.has_record ? truth(row.facts.directory) : none();
      case 8:
        return source.has_record ? number(row.links) : none();
      case 9:
        return row.short_name != nullptr ? file_name_text(row.short_name->name) : none();
      case 10:
        return information ? number(information->dos_attributes) : none();
      case 11:
        return information ? shared_times(information->times) : none();
      case 12:
        return row.file_name != nullptr ? shared_times(row.file_name->times) : none();
      case 13:
        return row.index ? shared_times(*row.index) : none();
      case 14:
        return shared_owner(row.owner_sid);
      case 15:
        return number_or_none(row.record_offset);
      case 16:
        return number_or_none(row.content_size);
      case 17:
        return tuple_of(row.streams, [&](const auto& stream) { return make_stream(row, stream); });
      case 18:
        return tuple_of(row.findings,
                        [](const auto& finding) { return text(finding.code.view()); });
      case 19:
        return information ? number_or_none(information->security_id) : none();
      case 20:
        return information ? number_or_none(information->usn) : none();
      case 21:
        return row.object_id ? text(core::to_string(*row.object_id)) : none();
      case 22:
        return make_reparse(row);
      case 23:
        return make_extended_attributes(row);
      case 24:
        return source.entry ? make_entry(*source.entry) : none();
      case 25:
        return tuple_of(row.other_streams,
                        [&](const auto& stream) { return make_stream(row, stream); });
      default:
        return row.zone_id ? make_zone_id(*row.zone_id) : none();
    }
  }

  std::vector<std::size_t> fields_;
  std::string path_;
  ntfs::Times last_times_{};
  py::object times_;
  std::string last_owner_;
  py::object owner_;
  std::unordered_map<u32, py::object> types_;
};

FileObjects::FileObjects(std::vector<std::size_t> fields)
    : maker_{std::make_unique<Maker>(std::move(fields))} {}

FileObjects::~FileObjects() = default;

Object FileObjects::make(const FileRow& row) {
  return maker_->make_file(row);
}

namespace {

// The types of a File's members.
void add_part_records(py::module_& module) {
  static const Record times{module,
                            "Times",
                            "Four times of a file: nanoseconds since 1970, UTC, or None.",
                            {{"created", ""},
                             {"modified", "the data"},
                             {"changed", "the FILE record"},
                             {"accessed", ""}}};
  static const Record extent{
      module,
      "Extent",
      "Consecutive clusters of a stream.",
      {{"vcn", "of the first"}, {"lcn", "of the first, None in a hole"}, {"clusters", ""}}};
  static const Record stream{module,
                             "Stream",
                             "A $DATA attribute, and where its bytes are.",
                             {{"name", "None for the unnamed stream"},
                              {"size", "in bytes"},
                              {"allocated", "in bytes; None if resident"},
                              {"valid", "in bytes; None if resident"},
                              {"resident", ""},
                              {"compressed", ""},
                              {"encrypted", ""},
                              {"sparse", ""},
                              {"resident_offset", "in the image"},
                              {"extents", "a tuple of Extent"},
                              {"id", "of the attribute"},
                              {"fixup_positions",
                               "a tuple of positions of bytes that are not at "
                               "resident_offset, but in the FILE record's fixup array"},
                              {"type", "'$DATA' and so on"}}};
  static const Record reparse{module,
                              "Reparse",
                              "What a reparse point says.",
                              {{"tag", ""},
                               {"kind", "'symlink' and so on; None for an unknown tag"},
                               {"target", "where it leads; None for many tags"}}};
  static const Record extended_attribute{
      module, "ExtendedAttribute", "One of $EA.", {{"name", ""}, {"value", "bytes"}}};
  static const Record entry{module,
                            "Entry",
                            "What a directory entry says without a FILE record to confirm it.",
                            {{"offset", "of the entry in the image"},
                             {"size", "in bytes"},
                             {"allocated", "in bytes"},
                             {"attributes", "bits, as in $FILE_NAME"},
                             {"copies", "how often slack has the same"}}};
  static const Record zone_id{module,
                              "ZoneId",
                              "The origin of a file, from its stream Zone.Identifier.",
                              {{"zone", "URLZONE: 3 is the internet"},
                               {"referrer_url", ""},
                               {"host_url", ""},
                               {"resident", "False: the stream is not read"}}};
  times_record = &times;
  extent_record = &extent;
  stream_record = &stream;
  reparse_record = &reparse;
  extended_attribute_record = &extended_attribute;
  entry_record = &entry;
  zone_id_record = &zone_id;
}

}  // namespace

void add_file_records(py::module_& module) {
  add_part_records(module);
  static const Record file{module,
                           "File",
                           "One name on a volume, as in 'coldtrace ntfs snapshot'.",
                           {{"path", "with U+FFFD for unpaired surrogates, as in JSON"},
                            {"name", "with its unpaired surrogates"},
                            {"record", ""},
                            {"sequence", ""},
                            {"parent_record", ""},
                            {"parent_sequence", ""},
                            {"state", "'live', 'deleted' and so on"},
                            {"directory", ""},
                            {"links", ""},
                            {"short_name", ""},
                            {"attributes", "bits of FILE_ATTRIBUTE_*"},
                            {"si", "Times of $STANDARD_INFORMATION"},
                            {"fn", "Times of $FILE_NAME"},
                            {"index", "Times of the directory entry"},
                            {"owner_sid", ""},
                            {"record_offset", "in the image"},
                            {"size", "of the unnamed stream, in bytes"},
                            {"streams", "a tuple of Stream"},
                            {"findings", "a tuple of codes"},
                            {"security_id", ""},
                            {"usn", ""},
                            {"object_id", ""},
                            {"reparse", "a Reparse"},
                            {"ea", "a tuple of ExtendedAttribute"},
                            {"entry", "an Entry, for names that no FILE record has"},
                            {"other_streams", "a tuple of Stream, for other attributes"},
                            {"zone_id", "a ZoneId, if files() was asked for it"}}};
  file_record = &file;
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    state_texts[i] = text(to_string(static_cast<ntfs::State>(i)));
}

}  // namespace coldtrace::python
