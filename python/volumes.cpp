// NTFS volumes of disk images, and their files.

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "coldtrace/core/parallel.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/image_file.hpp"
#include "coldtrace/ntfs/journal/deleted_times.hpp"
#include "coldtrace/ntfs/partition.hpp"
#include "coldtrace/ntfs/walk.hpp"
#include "coldtrace/ntfs_query/file_filter.hpp"
#include "coldtrace/ntfs_query/row_values.hpp"
#include "python/disk_images.hpp"
#include "python/values.hpp"

namespace coldtrace::python {
namespace {

using core::FileKind;
using ntfs::FileRow;

const Record* file_record = nullptr;
const Record* times_record = nullptr;
const Record* stream_record = nullptr;
const Record* extent_record = nullptr;
std::array<Object, ntfs::state_count> state_texts{};

struct Volume {
  std::shared_ptr<DiskImage> image;
  ntfs::Partition partition;
  ntfs::Volume volume;
  core::Findings findings;                         // but for those of its rows
  std::shared_ptr<const ntfs::Snapshot> snapshot;  // taken when files are first asked for
  // Of the rows that the iterator had which came furthest, of so many batches.
  core::Findings row_findings = {};
  u64 batches = 0;
  bool with_slack = false;
  bool with_zone_ids = false;
  std::shared_ptr<const ntfs::DeletedTimes> deleted =
      {};  // read when an expression first asks for it
};

// All below: what other threads of Python may look at is changed while this one has the lock of
// Python, and nothing is raised without it.

core::Result<ntfs::Volume> open_volume(const DiskImage& image, const ntfs::Partition& partition,
                                       core::Findings& findings) {
  if (image.file.kind == FileKind::ntfs_mft)
    return ntfs::Volume::open_extracted_mft(*image.file.source, findings);
  return ntfs::Volume::open(*image.file.source,
                            {.offset = partition.offset,
                             .size = partition.size,
                             .anywhere = image.disk.kind == ntfs::DiskKind::volume},
                            findings);
}

std::vector<std::shared_ptr<Volume>> open_volumes(const std::shared_ptr<DiskImage>& image) {
  std::vector<std::shared_ptr<Volume>> volumes;
  core::Findings unreadable;
  {
    const py::gil_scoped_release released;
    const bool is_mft = image->file.kind == FileKind::ntfs_mft;
    for (const auto& partition :
         is_mft ? image->disk.partitions : ntfs::find_ntfs_partitions(image->disk)) {
      core::Findings findings;
      auto volume = open_volume(*image, partition, findings);
      if (volume)
        volumes.push_back(std::make_shared<Volume>(
            Volume{image, partition, std::move(*volume), std::move(findings), nullptr}));
      else
        unreadable.warning("volume-unreadable", volume.error());
    }
    for (const auto& partition : image->disk.partitions)
      if (partition.kind == FileKind::bitlocker_volume)
        unreadable.warning("bitlocker-locked", partition.offset,
                           "{} a BitLocker volume, which the module does not decrypt: 'coldtrace "
                           "ntfs' reads it, with its key",
                           partition.number == 0
                               ? std::string{"it is"}
                               : fmt::format("partition {} is", partition.number));
  }
  image->findings.merge_unknown(unreadable);
  return volumes;
}

// Gives the files of a volume, a list of some hundred at a time.
class FileChunks {
 public:
  FileChunks(std::shared_ptr<Volume> volume, ntfs::StateSet states,
             std::optional<where::WhereExpression> where, std::vector<std::size_t> fields,
             unsigned jobs)
      : volume_{std::move(volume)},
        snapshot_{volume_->snapshot},
        deleted_{volume_->deleted},
        walk_{*snapshot_, states},
        where_{std::move(where)},
        fields_{std::move(fields)},
        jobs_{jobs} {
    for (unsigned i = 0; i < jobs; ++i) {
      values_.emplace_back(*snapshot_, volume_->partition.number, volume_->partition.offset);
      if (deleted_) values_.back().set_deleted(*deleted_);
    }
  }

  py::list next() {
    const OneAtATime turn{busy_};
    std::size_t wanted = 0;
    {
      const py::gil_scoped_release released;
      while (wanted == 0) {
        if (!walk_.next(batch_)) {
          if (!std::exchange(ended_, true)) findings_.merge(walk_.findings());
          break;
        }
        ++batches_;
        wanted = build_rows(findings_);
      }
    }
    tell_volume();
    if (wanted == 0) throw py::stop_iteration{};
    auto list =
        py::reinterpret_steal<py::list>(checked(PyList_New(static_cast<Py_ssize_t>(wanted))));
    Py_ssize_t at = 0;
    for (std::size_t i = 0; i < batch_.rows.size(); ++i)
      if (chosen_[i]) PyList_SET_ITEM(list.ptr(), at++, make_file(rows_[i]));
    return list;
  }

 private:
  // Each walk through a snapshot finds the same.
  void tell_volume() {
    if (snapshot_ != volume_->snapshot || batches_ < volume_->batches) return;
    volume_->batches = batches_;
    volume_->row_findings = findings_;
  }

  // How many of the batch are wanted.
  std::size_t build_rows(core::Findings& findings) {
    const auto& snapshot = *snapshot_;
    const auto count = batch_.rows.size();
    if (rows_.size() < count) rows_.resize(count);
    chosen_.assign(count, 0);
    core::parallel_for(jobs_, count, [&](unsigned worker, u64 i) {
      auto& row = rows_[i];
      snapshot.build_row(batch_, batch_.rows[i], row);
      if (!batch_.rows[i].wanted) return;
      values_[worker].set(row);
      chosen_[i] = !where_ || ntfs::wants(*where_, values_[worker]) ? 1 : 0;
    });
    for (std::size_t i = 0; i < count; ++i) note_findings(rows_[i], findings);
    return static_cast<std::size_t>(std::count(chosen_.begin(), chosen_.end(), 1));
  }

  static Object make_times(const ntfs::Times& times) {
    const std::array values{time(times.created), time(times.modified), time(times.changed),
                            time(times.accessed)};
    return times_record->make(values);
  }

  Object make_name(ntfs::StoredText name) {
    if (!name.narrow) return utf16_text(name.bytes);
    return checked(PyUnicode_DecodeLatin1(core::to_chars(name.bytes).data(),
                                          static_cast<Py_ssize_t>(name.bytes.size()), nullptr));
  }

  static Object make_extent(const ntfs::Extent& extent) {
    const std::array values{number(extent.vcn),
                            extent.lcn ? number(static_cast<u64>(*extent.lcn)) : none(),
                            number(extent.clusters)};
    return extent_record->make(values);
  }

  Object make_stream(const FileRow& row, const ntfs::StreamRow& stream) {
    const std::array values{stream.name.empty() ? none() : make_name(stream.name),
                            number_or_none(stream.size),
                            number_or_none(stream.allocated),
                            number_or_none(stream.valid),
                            truth(stream.resident),
                            truth(stream.compressed),
                            truth(stream.encrypted),
                            truth(stream.sparse),
                            number_or_none(stream.resident_offset),
                            tuple_of(row.extents_of(stream), make_extent),
                            number(stream.id),
                            tuple_of(row.fixups_of(stream), [](u32 at) { return number(at); })};
    return stream_record->make(values);
  }

  // Mostly two or all of the sets are the same, and so are those of rows that follow each other.
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

  // In the order of the record.
  Object make_field(const FileRow& row, std::size_t field) {
    const auto& source = *row.source;
    const auto& information = row.facts.information;
    const bool unnamed = row.name.empty();
    const auto parent = row.file_name != nullptr ? row.file_name->parent : source.parent;
    switch (field) {
      case 0:
        return unnamed ? none() : make_path(row);
      case 1:
        return unnamed ? none() : make_name(row.name);
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
        return row.short_name != nullptr ? make_name(row.short_name->name) : none();
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
        return row.content() != nullptr ? number_or_none(row.content()->size) : none();
      case 17:
        return tuple_of(row.streams, [&](const auto& stream) { return make_stream(row, stream); });
      case 18:
        return tuple_of(row.findings,
                        [](const auto& finding) { return text(finding.code.view()); });
      case 19:
        return information ? number_or_none(information->security_id) : none();
      case 20:
        return information ? number_or_none(information->usn) : none();
      default:
        return row.object_id ? text(core::to_string(*row.object_id)) : none();
    }
  }

  Object make_file(const FileRow& row) {
    if (!fields_.empty())
      return tuple_of(fields_, [&](std::size_t field) { return make_field(row, field); });
    std::array<Object, Record::most_fields> values;
    for (std::size_t field = 0; field < file_record->size(); ++field)
      values[field] = make_field(row, field);
    return file_record->make(std::span{values}.first(file_record->size()));
  }

  std::shared_ptr<Volume> volume_;
  std::shared_ptr<const ntfs::Snapshot> snapshot_;
  std::shared_ptr<const ntfs::DeletedTimes> deleted_;
  ntfs::Walk walk_;
  std::optional<where::WhereExpression> where_;
  std::vector<std::size_t> fields_;  // those wanted; empty: all, as a record
  unsigned jobs_;
  std::vector<ntfs::RowValues> values_;  // one a thread
  ntfs::RowBatch batch_;
  std::vector<FileRow> rows_;
  std::vector<u8> chosen_;
  std::string path_;
  ntfs::Times last_times_{};
  py::object times_;
  std::string last_owner_;
  py::object owner_;
  core::Findings findings_;  // of the rows so far
  u64 batches_ = 0;
  bool ended_ = false;
  bool busy_ = false;
};

// All; those in slack are there only where they were looked for.
void add_all_states(ntfs::StateSet& states, bool slack) {
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    if (const auto state = static_cast<ntfs::State>(i); slack || state != ntfs::State::slack)
      states.add(state);
}

ntfs::StateSet to_states(const std::optional<std::vector<std::string>>& names, bool slack) {
  ntfs::StateSet states;
  if (!names) add_all_states(states, slack);
  if (!names) return states;
  for (const auto& name : *names) {
    if (name == "all") {
      add_all_states(states, slack);
      continue;
    }
    const auto state = ntfs::to_state(name);
    if (!state) raise_error("states: there is no state '" + name + "'");
    states.add(*state);
  }
  return states;
}

py::object files_of(const std::shared_ptr<Volume>& volume, const std::optional<std::string>& where,
                    const std::optional<std::vector<std::string>>& state_names, bool slack,
                    const std::vector<std::string>& field_names, Jobs jobs) {
  std::vector<std::size_t> fields;
  for (const auto& name : field_names) {
    const auto field = file_record->find(name);
    if (!field) raise_error("fields: a File has no '" + name + "'");
    fields.push_back(*field);
  }
  std::optional<where::WhereExpression> expression;
  if (where) {
    auto parsed = ntfs::parse_file_where(*where);
    if (!parsed) raise_error("where: " + to_string(parsed.error()));
    expression = std::move(*parsed);
  }
  const auto states = to_states(state_names, slack);
  const bool needs_slack = states.contains(ntfs::State::slack);
  const bool needs_zone_ids = expression && ntfs::asks_zone_ids(*expression);
  if (!volume->snapshot || (needs_slack && !volume->with_slack) ||
      (needs_zone_ids && !volume->with_zone_ids)) {
    const bool slack_too = needs_slack || volume->with_slack;
    const bool zone_ids_too = needs_zone_ids || volume->with_zone_ids;
    core::Findings findings;
    std::shared_ptr<const ntfs::Snapshot> taken;
    {
      const py::gil_scoped_release released;
      taken = std::make_shared<const ntfs::Snapshot>(ntfs::Snapshot::take(
          volume->volume,
          {.jobs = jobs.count, .slack = slack_too, .rows = {.zone_ids = zone_ids_too}}, findings));
    }
    volume->findings.merge_unknown(findings);
    volume->snapshot = std::move(taken);
    volume->row_findings = {};
    volume->batches = 0;
    volume->with_slack = slack_too;
    volume->with_zone_ids = zone_ids_too;
  }
  if (expression && ntfs::asks_deletions(*expression) && !volume->deleted) {
    core::Findings findings;
    std::shared_ptr<const ntfs::DeletedTimes> deleted;
    {
      const py::gil_scoped_release released;
      deleted = std::make_shared<const ntfs::DeletedTimes>(
          ntfs::read_deleted_times(volume->volume, volume->snapshot->records(), findings));
    }
    volume->findings.merge_unknown(findings);
    volume->deleted = std::move(deleted);
  }
  return chained(py::cast(std::make_unique<FileChunks>(volume, states, std::move(expression),
                                                       std::move(fields), jobs.count)));
}

void add_records(py::module_& module) {
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
      "Clusters of a stream that follow each other.",
      {{"vcn", "of the first"}, {"lcn", "where it lies, None in a hole"}, {"clusters", ""}}};
  static const Record stream{module,
                             "Stream",
                             "A $DATA attribute and where its bytes are.",
                             {{"name", "None of the file's own"},
                              {"size", "in bytes"},
                              {"allocated", "in bytes; None of a resident one"},
                              {"valid", "in bytes; None of a resident one"},
                              {"resident", ""},
                              {"compressed", ""},
                              {"encrypted", ""},
                              {"sparse", ""},
                              {"resident_offset", "in the image"},
                              {"extents", "a tuple of Extent"},
                              {"id", "of the attribute"},
                              {"fixup_positions",
                               "a tuple of positions of its bytes which are not at "
                               "resident_offset: the FILE record's fixup array has them"}}};
  static const Record file{module,
                           "File",
                           "One name of a volume, as 'coldtrace ntfs snapshot' has it.",
                           {{"path", "with U+FFFD for unpaired surrogates, as JSON has it"},
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
                            {"index", "Times of the directory's entry"},
                            {"owner_sid", ""},
                            {"record_offset", "in the image"},
                            {"size", "of its own stream, in bytes"},
                            {"streams", "a tuple of Stream"},
                            {"findings", "a tuple of codes"},
                            {"security_id", ""},
                            {"usn", ""},
                            {"object_id", ""}}};
  times_record = &times;
  extent_record = &extent;
  stream_record = &stream;
  file_record = &file;
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    state_texts[i] = text(to_string(static_cast<ntfs::State>(i)));
}

}  // namespace

void add_volumes(py::module_& module) {
  add_records(module);
  py::class_<FileChunks> iterator{module, "_FileChunks"};
  forbid_new(iterator);
  iterator.def("__iter__", [](py::object self) { return self; })
      .def("__next__", [](FileChunks& self) { return self.next(); });
  add_disk_images(module).def(
      "volumes",
      [](const std::shared_ptr<DiskImage>& self) { return open_volumes(not_none(self)); },
      "The NTFS volumes in it.");
  py::class_<Volume, std::shared_ptr<Volume>> type{module, "Volume", "An NTFS volume."};
  forbid_new(type);
  type.def_property_readonly("number", [](const Volume& self) { return number_of(self.partition); })
      .def_property_readonly("offset",
                             [](const Volume& self) {
                               const auto& mft = self.volume.mft();
                               return mft.extracted() ? std::nullopt
                                                      : std::optional{mft.clusters().volume_offset};
                             })
      .def_property_readonly("size", [](const Volume& self) { return self.partition.size; })
      .def_property_readonly(
          "cluster_size",
          [](const Volume& self) {
            const auto& mft = self.volume.mft();
            return mft.extracted() ? std::nullopt : std::optional{mft.clusters().cluster_size};
          },
          "None of a copied $MFT, which does not say it.")
      .def_property_readonly(
          "findings",
          [](const Volume& self) {
            auto findings = self.findings;
            findings.merge(self.row_findings);
            return to_list(findings);
          },
          "Complete when its files were gone through.")
      .def(
          "files", &files_of, py::kw_only(), py::arg("where") = py::none(),
          py::arg("states") = py::none(), py::arg("slack") = false,
          py::arg("fields") = std::vector<std::string>{}, py::arg("jobs") = 1,
          "Its names, depth first, then what directories do not reach. 'where' is an expression of "
          "'coldtrace ntfs query', 'states' are those wanted; names in slack only if asked for. "
          "With "
          "'fields' tuples of these members of File alone, which is sooner done.");
}

}  // namespace coldtrace::python
