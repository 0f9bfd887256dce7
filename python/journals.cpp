// Change journals of volumes.

#include <pybind11/stl.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/journal/change_journal.hpp"
#include "coldtrace/ntfs/journal/journal_replay.hpp"
#include "coldtrace/ntfs/journal/usn_names.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"
#include "python/file_objects.hpp"
#include "python/volume.hpp"

namespace coldtrace::python {
namespace {

const Record* journal_record = nullptr;
const Record* range_record = nullptr;

// The journals of one volume, and what $MFT says about its directories.
struct Journals {
  ntfs::RecordTable records;
  ntfs::DirectoryHistory directories;
  std::vector<ntfs::ChangeJournal> found;
};

std::unique_ptr<Journals> read_journals(const ntfs::Volume& volume, unsigned jobs, bool deleted,
                                        core::Findings& findings) {
  std::vector<ntfs::Gap> gaps;
  auto journals = std::make_unique<Journals>(Journals{
      ntfs::RecordTable::scan(volume.image(), volume.mft(), jobs, findings, gaps), {}, {}});
  journals->directories.start_from(journals->records);
  journals->found = ntfs::find_change_journals(volume, journals->records, findings);
  if (std::ranges::none_of(journals->found, &ntfs::ChangeJournal::in_use))
    findings.info("journal-none",
                  volume.mft().extracted() ? std::nullopt
                                           : std::optional{volume.mft().clusters().volume_offset},
                  "the volume has no change journal");
  const auto unwanted =
      deleted ? 0
              : std::erase_if(journals->found, [](const auto& journal) { return !journal.in_use; });
  if (unwanted > 0)
    findings.info(
        "journal-deleted", std::nullopt, "{} hold",
        core::counted(unwanted,
                      "deleted journal left remnants; deleted=True reads what its clusters",
                      "deleted journals left remnants; deleted=True reads what their clusters"));
  return journals;
}

// Returns the rows of a volume's journals, in lists of some hundred.
class JournalChunks {
 public:
  JournalChunks(std::shared_ptr<Volume> volume, std::unique_ptr<Journals> journals, bool events)
      : volume_{std::move(volume)}, journals_{std::move(journals)}, events_{events} {}

  py::list next() {
    const OneAtATime turn{busy_};
    core::Findings findings;
    {
      const WithoutLock unlocked;
      read(findings);
    }
    volume_->findings.merge_unknown(findings);
    if (batch_.rows.empty()) throw py::stop_iteration{};
    auto list = py::reinterpret_steal<py::list>(
        checked(PyList_New(static_cast<Py_ssize_t>(batch_.rows.size()))));
    Py_ssize_t at = 0;
    for (const auto& row : batch_.rows) PyList_SET_ITEM(list.ptr(), at++, make_row(row));
    return list;
  }

 private:
  void read(core::Findings& findings) {
    batch_.rows.clear();
    while (batch_.rows.empty() && at_ < journals_->found.size()) {
      const auto& journal = journals_->found[at_];
      if (!replay_) {
        times_.emplace(journals_->records);
        replay_.emplace(journal.stream, journals_->directories,
                        ntfs::JournalReplay::Options{.events = events_,
                                                     .times = journal.in_use ? &*times_ : nullptr,
                                                     .current = journal.in_use});
      }
      if (replay_->next(batch_, findings_)) continue;
      batch_.rows.clear();
      replay_.reset();
      ++at_;
    }
    // Only once all were read: known findings of some would be counted again.
    if (at_ == journals_->found.size()) findings = std::exchange(findings_, {});
  }

  static Object name_of(u32 bit, const std::vector<ntfs::UsnFlag>& flags) {
    const auto found = std::ranges::find(flags, bit, &ntfs::UsnFlag::bit);
    return found == flags.end() ? text(fmt::format("{:#x}", bit)) : text(found->name);
  }

  // One tuple for each combination; there are few.
  static Object names_of(u32 bits, const std::vector<ntfs::UsnFlag>& flags,
                         std::unordered_map<u32, py::object>& known) {
    auto& names = known[bits];
    if (!names) {
      std::vector<u32> set;
      for (u32 rest = bits; rest != 0; rest &= rest - 1) set.push_back(rest & (0U - rest));
      names = py::reinterpret_steal<py::object>(
          tuple_of(set, [&](u32 bit) { return name_of(bit, flags); }));
    }
    return py::object{names}.release().ptr();
  }

  Object make_row(const ntfs::JournalRow& row) {
    const auto& record = row.record;
    const auto* event = row.event ? &batch_.events[*row.event] : nullptr;
    if (row.path_known) {
      path_.clear();
      batch_.append_path(row, path_);
    }
    std::string old_path;
    if (event != nullptr) ntfs::append_utf8(old_path, event->old_path);
    std::vector<ntfs::UsnExtent> ranges;
    for (u64 i = 0; i < record.extent_count(); ++i) ranges.push_back(record.extent(i));
    const auto time_or_none = [](const std::optional<core::FileTime>& when) {
      return when ? time(*when) : none();
    };
    const std::array values{
        number(record.usn),
        time_or_none(record.time),
        row.path_known ? text(path_) : none(),
        row.path_known ? truth(row.path_certain) : none(),
        row.path_known ? file_name_text(record.name) : none(),
        number(record.file.record),
        number(record.file.sequence),
        number(record.parent.record),
        number(record.parent.sequence),
        names_of(record.reasons, ntfs::usn_reasons(), reasons_),
        names_of(record.sources, ntfs::usn_sources(), sources_),
        number_or_none(record.attributes),
        number_or_none(record.security_id),
        number(record.major),
        number_or_none(row.offset),
        tuple_of(ranges,
                 [](const auto& range) {
                   const std::array pair{number(range.offset), number(range.length)};
                   return range_record->make(pair);
                 }),
        event != nullptr ? number(event->first_usn) : none(),
        event != nullptr ? time_or_none(event->first_time) : none(),
        event != nullptr ? number(event->records) : none(),
        event != nullptr ? truth(event->closed) : none(),
        event != nullptr ? text_or_none(old_path) : none()};
    return journal_record->make(values);
  }

  std::shared_ptr<Volume> volume_;
  std::unique_ptr<Journals> journals_;
  bool events_;
  std::size_t at_ = 0;  // in the journals
  std::optional<ntfs::JournalTimes> times_;
  std::optional<ntfs::JournalReplay> replay_;
  ntfs::JournalBatch batch_;
  core::Findings findings_;
  std::string path_;
  std::unordered_map<u32, py::object> reasons_;
  std::unordered_map<u32, py::object> sources_;
  bool busy_ = false;
};

py::object journal_of(const std::shared_ptr<Volume>& volume, bool events, bool deleted, Jobs jobs) {
  core::Findings findings;
  std::unique_ptr<Journals> journals;
  {
    const WithoutLock unlocked;
    journals = read_journals(not_none(volume)->volume, jobs.count, deleted, findings);
  }
  volume->findings.merge_unknown(findings);
  return chained(py::cast(std::make_unique<JournalChunks>(volume, std::move(journals), events)));
}

}  // namespace

void add_journals(py::module_& module, py::class_<Volume, std::shared_ptr<Volume>>& type) {
  static const Record row{
      module,
      "JournalRow",
      "A record of a change journal, or an event, as in 'coldtrace ntfs journal'.",
      {{"usn", ""},
       {"time", "nanoseconds since 1970, UTC"},
       {"path", "at that time"},
       {"path_certain", "True: no record since then is missing"},
       {"name", "including unpaired surrogates"},
       {"record", ""},
       {"sequence", ""},
       {"parent_record", ""},
       {"parent_sequence", ""},
       {"reasons", "a tuple of 'file_create' and so on"},
       {"sources", "a tuple of names"},
       {"attributes", "bits of FILE_ATTRIBUTE_*"},
       {"security_id", ""},
       {"version", "of the record: 2 to 4"},
       {"offset", "in the image"},
       {"extents", "for version 4: a tuple of ByteRange"},
       {"first_usn", "this and the following: only for events"},
       {"first_time", ""},
       {"records", "how many the event has"},
       {"closed", ""},
       {"old_path", "before it was renamed"}}};
  journal_record = &row;
  static const Record range{
      module, "ByteRange", "Bytes of a file.", {{"offset", ""}, {"length", ""}}};
  range_record = &range;
  py::class_<JournalChunks> iterator{module, "_JournalChunks"};
  forbid_new(iterator);
  iterator.def("__iter__", [](py::object self) { return self; })
      .def("__next__", [](JournalChunks& self) { return self.next(); });
  type.def(
      "journal", &journal_of, py::kw_only(), py::arg("events") = false, py::arg("deleted") = false,
      py::arg("jobs") = 1,
      "The records of its change journal, the oldest first. 'events' merges a file's records, up "
      "to its close, into one row; 'deleted' adds the remains of deleted journals.");
}

}  // namespace coldtrace::python
