#include "coldtrace/trace_analysis/top/top_page.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "coldtrace/tracefile/names/version_text.hpp"

namespace coldtrace::trace_analysis {
namespace {

// Those that weigh most first.
template <class Row, class Weight>
TopRows<Row> first_of(std::vector<Row> rows, u64 top, Weight weight) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return weight(a) > weight(b); });
  const auto shown = std::min<std::size_t>(rows.size(), top);
  const u64 more = rows.size() - shown;
  rows.resize(shown);
  return {std::move(rows), more};
}

std::optional<TopPage::Machine> machine_of(const tracefile::AnyTrace& trace) {
  const auto machine = trace.machine();
  if (!machine) return std::nullopt;
  return TopPage::Machine{tracefile::find_version_text(machine->windows_version),
                          machine->processors, machine->pointer_size};
}

std::vector<TopPage::ProcessTime> process_times(const ProcessorUse& use,
                                                const Population& population) {
  std::vector<TopPage::ProcessTime> times(population.processes().size());
  for (Index i = 0; i < times.size(); ++i) times[i].process = i;
  const auto& nobodys = use.unknown_process().sampled.all;
  TopPage::ProcessTime unknown{nobody, 0, nobodys.time, 0, nobodys.samples};
  for (Index i = 0; i < use.threads().size(); ++i) {
    const auto& thread = population.threads()[i];
    const auto& one = use.threads()[i];
    const auto& sampled = one.sampled.all;
    if (thread.process == nobody) {
      if (thread.idle_of) {
        unknown.sampled -= std::min(unknown.sampled, sampled.time);
        unknown.samples -= std::min(unknown.samples, sampled.samples);
      } else {
        add_ticks(unknown.running, one.running);
        unknown.turns += one.turns;
      }
    } else if (!thread.idle_of) {
      auto& process = times[thread.process];
      add_ticks(process.running, one.running);
      add_ticks(process.sampled, sampled.time);
      process.turns += one.turns;
      process.samples += sampled.samples;
    }
  }
  times.push_back(unknown);
  std::erase_if(times, [](const auto& one) { return one.running == 0 && one.sampled == 0; });
  return times;
}

TopPage::Processors processors_of(const TopAnswers& answers, const Population& population, u64 top,
                                  RowOrder order) {
  const auto& use = answers.use.get();
  const auto& scheduled = use.schedule().processors();
  TopPage::Processors processors;
  const auto seen = use.processors_seen();
  processors.count = seen.size();
  for (const auto number : seen)
    if (!scheduled.contains(number)) add_ticks(processors.unknown, use.schedule().elapsed());
  for (const auto& [number, one] : scheduled) {
    add_ticks(processors.busy, one.busy);
    add_ticks(processors.idle, one.idle);
    add_ticks(processors.unknown, one.unknown);
  }
  for (const auto& [number, one] : use.processors())
    add_ticks(processors.sampled_idle, one.sampled_idle.time);
  auto processes = process_times(use, population);
  auto drivers = drivers_of(use.routines());
  if (order == RowOrder::count) {
    processors.processes = first_of(std::move(processes), top, [](const TopPage::ProcessTime& one) {
      return std::pair{one.samples, one.turns};
    });
    processors.drivers =
        first_of(std::move(drivers), top, [](const DriverUse& one) { return one.dpcs + one.isrs; });
  } else {
    processors.processes =
        first_of(std::move(processes), top, [&](const TopPage::ProcessTime& one) {
          return use.has_switches() ? one.running : one.sampled;
        });
    processors.drivers =
        first_of(std::move(drivers), top, [](const DriverUse& one) { return one.time(); });
  }
  return processors;
}

template <class Sums, class Is, class Weight>
TopPage::Requests<Sums> requests_of(const std::map<Index, Sums>& processes,
                                    const std::vector<Sums>& files, u64 top, Is is_there,
                                    Weight weight) {
  std::vector<std::pair<Index, const Sums*>> by_process;
  for (const auto& [index, sums] : processes) by_process.emplace_back(index, &sums);
  std::vector<std::pair<u32, const Sums*>> by_file;
  for (u32 i = 0; i < files.size(); ++i)
    if (is_there(files[i])) by_file.emplace_back(i, &files[i]);
  const auto of_row = [&](const auto& row) { return weight(*row.second); };
  return {first_of(std::move(by_process), top, of_row), first_of(std::move(by_file), top, of_row)};
}

std::optional<TopPage::BusiestDisk> busiest_of(const DiskIo& disk) {
  std::optional<TopPage::BusiestDisk> busiest;
  for (const auto& [number, one] : disk.disks())
    if (!busiest || one.busy.total() > busiest->busy)
      busiest = TopPage::BusiestDisk{number, one.busy.total()};
  return busiest;
}

i64 longest_of(TopPage::ServiceRow row) {
  return static_cast<i64>(row->times.greatest());
}

i64 cost_of(TopPage::ServiceRow row) {
  return row->inclusive;
}

std::vector<TopPage::ServiceRow> timed(const Services& services) {
  std::vector<TopPage::ServiceRow> all;
  for (const auto& one : services.services())
    if (one.times.count() > 0) all.push_back(&one);
  return all;
}

TopRows<TopPage::ServiceRow> slowest_of(const Services& services, u64 top) {
  auto all = timed(services);
  const auto count = all.size();
  auto slowest = first_of(all, top, longest_of);
  for (const auto row : first_of(std::move(all), top, cost_of).rows)
    if (std::find(slowest.rows.begin(), slowest.rows.end(), row) == slowest.rows.end())
      slowest.rows.push_back(row);
  slowest.more = count - slowest.rows.size();
  std::stable_sort(slowest.rows.begin(), slowest.rows.end(),
                   [](auto a, auto b) { return longest_of(a) > longest_of(b); });
  return slowest;
}

TopRows<TopPage::ServiceRow> most_called_of(const Services& services, u64 top) {
  return first_of(timed(services), top, [](TopPage::ServiceRow row) { return row->calls; });
}

}  // namespace

TopPage::TopPage(const tracefile::AnyTrace& trace, const Population& population,
                 const TopAnswers& answers, u64 top, RowOrder order)
    : machine{machine_of(trace)},
      events_lost{trace.events_lost()},
      buffers_lost{trace.buffers_lost()},
      processors{processors_of(answers, population, top, order)},
      disk{requests_of(
          answers.disk.get().of_processes(), answers.disk.get().of_files(), top,
          [](const DiskSums& sums) { return sums.count() > 0; },
          [order](const DiskSums& sums) {
            return order == RowOrder::count ? static_cast<i64>(sums.count()) : sums.response;
          })},
      busiest_disk{busiest_of(answers.disk)},
      files{requests_of(
          answers.files.get().of_processes(), answers.files.get().of_files(), top,
          [](const FileSums& sums) { return sums.operations > 0; },
          [order](const FileSums& sums) {
            return order == RowOrder::count ? static_cast<i64>(sums.operations) : sums.time;
          })} {
  std::vector<NetworkRow> transfers;
  for (const auto& [index, sums] : answers.network.get().of_processes())
    transfers.emplace_back(index, &sums);
  network = first_of(std::move(transfers), top, [order](const NetworkRow& row) {
    return order == RowOrder::count ? row.second->sends + row.second->receives
                                    : row.second->half_moved();
  });
  waits.rows = answers.waits.get().longest();
  waits.rows.resize(std::min<u64>(waits.rows.size(), top));
  waits.more = answers.waits.get().count() - waits.rows.size();
  for (const auto& one : answers.files.get().of_actions()) file_operations.add(one);
  for (const auto& one : answers.deadlocks.get().deadlocks())
    lasting_deadlocks += one.end ? 0U : 1U;
  services = order == RowOrder::count ? most_called_of(answers.services, top)
                                      : slowest_of(answers.services, top);

  has_population_ = !population.processes().empty() || !population.threads().empty();
  const auto& use = answers.use.get();
  const auto& requests = answers.disk.get();
  const auto set = [this](Topic topic, bool has) { has_[static_cast<std::size_t>(topic)] = has; };
  set(Topic::processor, use.has_switches() || use.has_samples() || use.has_interrupts());
  set(Topic::disk, requests.all().count() > 0 || requests.requests().first_open());
  set(Topic::file_operations, !answers.files.get().of_processes().empty());
  set(Topic::network, !answers.network.get().of_processes().empty());
  set(Topic::waits, use.has_switches() || answers.deadlocks.get().names_objects());
  set(Topic::services, !answers.services.get().services().empty());
}

i64 TopPage::Processors::time() const {
  i64 time = 0;
  for (const auto part : {busy, idle, unknown}) add_ticks(time, part);
  return time;
}

bool TopPage::empty() const {
  return !has_population_ && std::none_of(has_.begin(), has_.end(), [](bool has) { return has; });
}

}  // namespace coldtrace::trace_analysis
