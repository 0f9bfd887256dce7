#pragma once

#include <array>
#include <map>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/histogram.hpp"
#include "coldtrace/trace_analysis/requests/busy_time.hpp"
#include "coldtrace/trace_analysis/requests/disk_map.hpp"
#include "coldtrace/trace_analysis/requests/disk_requests.hpp"
#include "coldtrace/trace_analysis/requests/file_table.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::trace_analysis {

// What requests cost, in ticks and bytes. A sum that is too large stays at the largest number.
struct DiskSums {
  std::array<u64, 4> requests{};  // by DiskAction
  u64 bytes_read = 0, bytes_written = 0;
  u64 failed = 0;
  u64 served = 0;  // requests whose service and queue times are known
  i64 service = 0, queue = 0;
  i64 response = 0;  // of all that were timed
  Histogram responses;

  void add(const DiskRequest& request);
  void add(const DiskSums& other);
  [[nodiscard]] u64 count() const;
};

// Requests to disks by disk, file, process, size and priority.
class DiskIo final : public Analysis {
 public:
  struct Disk {
    DiskSums sums;
    BusyTime busy;
  };
  struct Row {
    const DiskRequest& request;
    u32 file;                       // its number
    std::string_view traced_name;   // in the trace; may be empty
    const DiskMap::File* snapshot;  // the file that has its first byte
  };
  using Sink = std::function<void(const Row&)>;
  using BusySink = std::function<void(u32 disk, const BusyTime::Interval&)>;
  // How the names of the trace and of the snapshot agree.
  struct Agreement {
    u64 named = 0;              // requests that the snapshot names
    u64 alike = 0, unlike = 0;  // of these, by the trace too
  };

  struct Snapshot {
    core::Borrowed<DiskMap> map;
    u32 disk;
  };
  // `names` and the snapshot's map must outlive it. `each` gets the requests, `busy` the times when
  // each disk had any; both may be empty.
  DiskIo(core::Borrowed<tracefile::NameTables> names, std::optional<Snapshot> snapshot,
         CounterTicks counter, Sink each = {}, BusySink busy = {});
  DiskIo(const DiskIo&) = delete;
  DiskIo& operator=(const DiskIo&) = delete;

  void begin(const Observed& observed) override;
  void on_disk_start(const DiskStart& record) override { requests_.on_disk_start(record); }
  void on_disk_end(const DiskEnd& record) override { requests_.on_disk_end(record); }
  void finish(const Observed& observed) override;

  [[nodiscard]] const DiskRequests& requests() const { return requests_; }
  [[nodiscard]] const FileTable& files() const { return files_; }

  [[nodiscard]] const DiskSums& all() const { return all_; }
  // Including disks that got requests and did not answer.
  [[nodiscard]] const std::map<std::optional<u32>, Disk>& disks() const { return disks_; }
  [[nodiscard]] const std::vector<DiskSums>& of_files() const { return of_files_; }  // by number
  [[nodiscard]] const std::map<Index, DiskSums>& of_threads() const { return of_threads_; }
  [[nodiscard]] const std::map<Index, DiskSums>& of_processes() const { return of_processes_; }
  [[nodiscard]] const std::map<std::optional<u8>, DiskSums>& of_priorities() const {
    return of_priorities_;
  }
  [[nodiscard]] const Histogram& sizes() const { return sizes_; }  // bytes of reads and writes
  // Whether the snapshot is of a disk that got no requests.
  [[nodiscard]] bool has_snapshot_of_other_disk() const;
  [[nodiscard]] const Agreement& agreement() const { return agreement_; }
  // Requests to disks beyond the limit: they count as those of no known disk.
  [[nodiscard]] u64 to_other_disks() const { return to_other_disks_; }

 private:
  void add(const DiskRequest& request);
  Disk& disk_of(std::optional<u32> number);
  u32 number_of(std::string_view traced_name, const DiskMap::File* snapshot);

  const tracefile::NameTables& names_;
  std::optional<Snapshot> snapshot_;
  Sink each_;
  BusySink busy_;
  DiskRequests requests_;
  const Observed* observed_ = nullptr;
  FileTable files_;
  DiskSums all_;
  std::map<std::optional<u32>, Disk> disks_;
  std::vector<DiskSums> of_files_;
  std::map<Index, DiskSums> of_threads_, of_processes_;
  std::map<std::optional<u8>, DiskSums> of_priorities_;
  Histogram sizes_;
  Agreement agreement_;
  u64 to_other_disks_ = 0;
};

}  // namespace coldtrace::trace_analysis
