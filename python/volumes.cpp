// NTFS volumes of disk images, and their files.

#include <algorithm>
#include <memory>
#include <span>

#include <pybind11/stl.h>

#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/walk.hpp"
#include "coldtrace/ntfs_query/file_filter.hpp"
#include "coldtrace/ntfs_query/row_values.hpp"
#include "python/file_objects.hpp"
#include "python/volume.hpp"

namespace coldtrace::python {
namespace {

using ntfs::FileRow;

// In all functions below, what other Python threads may see is changed only while this one holds
// the GIL, and no exception is raised without it.

std::vector<std::shared_ptr<Volume>> open_volumes(const std::shared_ptr<DiskImage>& image) {
  std::vector<std::shared_ptr<Volume>> volumes;
  core::Findings unreadable;
  {
    const WithoutLock unlocked;
    const auto chosen = ntfs::choose_volumes(*image, {});
    if (!chosen) return volumes;
    for (const auto& partition : chosen->volumes) {
      core::Findings findings;
      auto volume = ntfs::open_volume(*image, *image->file.source, partition, {}, findings);
      if (volume)
        volumes.push_back(std::make_shared<Volume>(
            Volume{image, nullptr, partition, std::move(*volume), std::move(findings), nullptr}));
      else
        unreadable.warning("volume-unopened", volume.error());
    }
    for (const auto& partition : chosen->locked)
      unreadable.warning("bitlocker-locked", partition.offset, "{}",
                         ntfs::describe_locked(partition, image->bitlocker.at(partition.offset),
                                               image->keys > 0, bitlocker_key_names));
  }
  image->findings.merge_unknown(unreadable);
  return volumes;
}

// Much of a row is needed for its findings alone: examine_rows() finds them when somebody asks.
ntfs::RowParts parts_of_all(const std::vector<std::size_t>& fields) {
  if (fields.empty()) return ntfs::RowParts::all;
  auto parts = ntfs::RowParts::head;
  for (const auto field : fields) parts = std::max(parts, parts_of(field));
  return parts;
}

// Returns the files of a volume, in lists of some hundred. If rows are filtered, threads share the
// work, and end with each list: building rows for another thread that turns them into objects gains
// nothing (docs/performance/performance.md).
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
        parts_{where_ ? ntfs::RowParts::all : parts_of_all(fields)},
        jobs_{where_ ? std::min(jobs, most_batches) : 1},
        batches_(jobs_ == 1 ? 1 : std::min(4 * jobs_, most_batches)),
        objects_{std::move(fields)} {
    for (unsigned i = 0; i < jobs_; ++i) {
      values_.emplace_back(*snapshot_, volume_->partition.number, volume_->partition.offset);
      if (deleted_) values_.back().set_deleted(*deleted_);
    }
  }

  py::list next() {
    const OneAtATime turn{busy_};
    std::size_t wanted = 0;
    {
      const WithoutLock unlocked;
      while (wanted == 0 && !ended_) wanted = build_batches();
    }
    tell_volume();
    if (wanted == 0) throw py::stop_iteration{};
    auto list =
        py::reinterpret_steal<py::list>(checked(PyList_New(static_cast<Py_ssize_t>(wanted))));
    const WithoutCollections meanwhile;
    Py_ssize_t at = 0;
    for (const auto& batch : std::span{batches_}.first(filled_))
      for (std::size_t i = 0; i < batch.chosen.size(); ++i)
        if (batch.chosen[i]) PyList_SET_ITEM(list.ptr(), at++, objects_.make(batch.rows[i]));
    return list;
  }

 private:
  static constexpr unsigned most_batches = 32;  // half a megabyte of rows each

  struct Batch {
    ntfs::RowBatch sources;
    std::vector<FileRow> rows;
    std::vector<bool> chosen;
    core::Findings findings;
  };

  // Each walk through a snapshot has the same findings.
  void tell_volume() {
    if (snapshot_ != volume_->snapshot) return;
    volume_->turns = std::max(volume_->turns, turns_);
    if (parts_ != ntfs::RowParts::all || turns_ < volume_->examined) return;
    volume_->examined = turns_;
    volume_->row_findings = findings_;
  }

  // Fills the batches again; returns how many of their rows are wanted.
  std::size_t build_batches() {
    std::size_t wanted = 0;
    filled_ = 0;
    core::ordered_pipeline<Batch*>(
        jobs_,
        [&](Batch*& batch) {
          if (filled_ == batches_.size()) return false;
          batch = &batches_[filled_];
          ended_ = !walk_.next(batch->sources);
          filled_ += ended_ ? 0 : 1;
          return !ended_;
        },
        [&](unsigned worker, Batch*& batch) { build(*batch, values_[worker]); },
        [&](Batch*& batch) {
          findings_.merge(batch->findings);
          wanted += static_cast<std::size_t>(std::ranges::count(batch->chosen, true));
        });
    turns_ += filled_ + (ended_ ? 1 : 0);
    if (ended_) findings_.merge(walk_.findings());
    return wanted;
  }

  void build(Batch& batch, ntfs::RowValues& values) const {
    const auto& sources = batch.sources.rows;
    if (batch.rows.size() < sources.size()) batch.rows.resize(sources.size());
    batch.chosen.assign(sources.size(), false);
    batch.findings = {};
    snapshot_->fetch_ahead(batch.sources);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      auto& row = batch.rows[i];
      snapshot_->build_row(batch.sources, sources[i], row, parts_);
      if (parts_ == ntfs::RowParts::all) note_findings(row, batch.findings);
      if (!sources[i].wanted) continue;
      if (where_) values.set(row);
      batch.chosen[i] = !where_ || ntfs::wants(*where_, values);
    }
  }

  std::shared_ptr<Volume> volume_;
  std::shared_ptr<const ntfs::Snapshot> snapshot_;
  std::shared_ptr<const ntfs::DeletedTimes> deleted_;
  ntfs::Walk walk_;
  std::optional<where::WhereExpression> where_;
  ntfs::RowParts parts_;
  unsigned jobs_;
  std::vector<ntfs::RowValues> values_;  // one per thread
  std::vector<Batch> batches_;
  std::size_t filled_ = 0;
  FileObjects objects_;
  core::Findings findings_;  // of the rows so far
  u64 turns_ = 0;            // of the walk: its batches, and its end
  bool ended_ = false;
  bool busy_ = false;
};

// The findings of the rows of so many turns of a walk, as FileChunks notes them.
core::Findings find_row_findings(const ntfs::Snapshot& snapshot, u64 turns) {
  ntfs::Walk walk{snapshot, {}};
  ntfs::RowBatch batch;
  FileRow row;
  core::Findings findings;
  for (u64 turn = 0; turn < turns; ++turn) {
    if (!walk.next(batch)) {
      findings.merge(walk.findings());
      break;
    }
    core::Findings of_batch;
    snapshot.fetch_ahead(batch);
    for (const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      note_findings(row, of_batch);
    }
    findings.merge(of_batch);
  }
  return findings;
}

// Examines the rows that iterators gave without looking for findings.
void examine_rows(Volume& volume) {
  while (volume.examined < volume.turns) {
    const auto snapshot = volume.snapshot;
    const u64 turns = volume.turns;
    core::Findings findings;
    {
      const WithoutLock unlocked;
      findings = find_row_findings(*snapshot, turns);
    }
    if (snapshot != volume.snapshot || turns <= volume.examined) continue;
    volume.examined = turns;
    volume.row_findings = std::move(findings);
  }
}

// All states; slack only if it was searched.
void add_all_states(ntfs::StateSet& states, bool slack) {
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    if (const auto state = static_cast<ntfs::State>(i); slack || state != ntfs::State::slack)
      states.add(state);
}

ntfs::StateSet to_states(const std::optional<std::vector<Text>>& names, bool slack) {
  ntfs::StateSet states;
  if (!names) add_all_states(states, slack);
  if (!names) return states;
  for (const auto& [name] : *names) {
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

py::object files_of(const std::shared_ptr<Volume>& volume, const std::optional<Text>& where,
                    const std::optional<std::vector<Text>>& state_names, bool slack,
                    const std::vector<Text>& field_names, bool zone_ids, Jobs jobs) {
  std::vector<std::size_t> fields;
  for (const auto& [name] : field_names) {
    const auto field = find_file_field(name);
    if (!field) raise_error("fields: a File has no '" + name + "'");
    fields.push_back(*field);
  }
  std::optional<where::WhereExpression> expression;
  if (where) {
    auto parsed = ntfs::parse_file_where(where->utf8);
    if (!parsed) raise_error("where: " + to_string(parsed.error()));
    expression = std::move(*parsed);
  }
  const auto states = to_states(state_names, slack);
  const bool needs_slack = states.contains(ntfs::State::slack);
  const bool needs_zone_ids = zone_ids || std::ranges::any_of(fields, is_zone_id) ||
                              (expression && ntfs::asks_zone_ids(*expression));
  if (!volume->snapshot || (needs_slack && !volume->with_slack) ||
      (needs_zone_ids && !volume->with_zone_ids)) {
    const bool slack_too = needs_slack || volume->with_slack;
    const bool zone_ids_too = needs_zone_ids || volume->with_zone_ids;
    core::Findings findings;
    std::shared_ptr<const ntfs::Snapshot> taken;
    {
      const WithoutLock unlocked;
      taken = std::make_shared<const ntfs::Snapshot>(ntfs::Snapshot::take(
          volume->volume,
          {.jobs = jobs.count, .slack = slack_too, .rows = {.zone_ids = zone_ids_too}}, findings));
    }
    volume->findings.merge_unknown(findings);
    volume->snapshot = std::move(taken);
    volume->turns = 0;
    volume->row_findings = {};
    volume->examined = 0;
    volume->with_slack = slack_too;
    volume->with_zone_ids = zone_ids_too;
  }
  if (expression && ntfs::asks_deletions(*expression) && !volume->deleted) {
    core::Findings findings;
    std::shared_ptr<const ntfs::DeletedTimes> deleted;
    {
      const WithoutLock unlocked;
      deleted = std::make_shared<const ntfs::DeletedTimes>(
          ntfs::read_deleted_times(volume->volume, volume->snapshot->records(), findings));
    }
    volume->findings.merge_unknown(findings);
    volume->deleted = std::move(deleted);
  }
  return chained(py::cast(std::make_unique<FileChunks>(volume, states, std::move(expression),
                                                       std::move(fields), jobs.count)));
}

}  // namespace

void add_volumes(py::module_& module) {
  add_file_records(module);
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
  add_shadows(module, type);
  add_journals(module, type);
  type.def_property_readonly("number", [](const Volume& self) { return number_of(self.partition); })
      .def_property_readonly("shadow",
                             [](const Volume& self) {
                               const auto& shadow = self.partition.shadow;
                               return shadow ? std::optional{shadow->number} : std::nullopt;
                             })
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
          "None for a copied $MFT, which does not tell.")
      .def_property_readonly(
          "findings",
          [](Volume& self) {
            examine_rows(self);
            auto findings = self.findings;
            findings.merge(self.row_findings);
            return to_list(findings);
          },
          "Complete once its files have been iterated.")
      .def("files", &files_of, py::kw_only(), py::arg("where") = py::none(),
           py::arg("states") = py::none(), py::arg("slack") = false,
           py::arg("fields") = std::vector<std::string>{}, py::arg("zone_ids") = false,
           py::arg("jobs") = 1,
           "Its names, depth first, then those that directories do not reach. 'where' is an "
           "expression of 'coldtrace ntfs query', 'states' are the wanted ones; names in slack "
           "only on request. With 'fields', tuples of only these members of File, which is faster. "
           "'zone_ids' adds the origin of files.");
}

}  // namespace coldtrace::python
