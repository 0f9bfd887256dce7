#include "coldtrace/trace_analysis/top/top_page.hpp"

#include <limits>

#include <catch2/catch.hpp>

#include "fixtures/builders/etl_file.hpp"
#include "fixtures/builders/value_of.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::trace_analysis;
using Rows = std::vector<std::pair<u32, i64>>;  // who, and what of it

constexpr u64 all_rows = std::numeric_limits<u64>::max();

// The rows of a page point into what must not end with the statement.
template <class Requests>
concept MakesAnswers = requires(ProcessorUse use, CodeNames code, LongestWaits waits,
                                Deadlocks deadlocks, Requests requests, FileIo files,
                                NetworkIo network, Services services) {
  TopAnswers{use,   code,    waits,   deadlocks, std::forward<Requests>(requests),
             files, network, services};
};
static_assert(MakesAnswers<DiskIo&>);
static_assert(!MakesAnswers<DiskIo>);

// A machine of one processor from time 100 to 200, and what analyses are told of it.
class Told {
 public:
  explicit Told(const fixtures::EtlSession& session = {})
      : bytes_{fixtures::build_etl(session, {fixtures::EtlBuffer{0}})},
        trace_{fixtures::value_of(tracefile::AnyTrace::open(
            std::make_unique<core::MemoryImage>(core::BorrowedBytes{bytes_}), {}, findings_))} {
    for (auto* const one : analyses_) one->begin(observed_);
  }

  // Of a process of its own.
  Index thread(u32 tid) {
    const auto index = population_.thread(tid);
    population_.at_thread(index).process = population_.process(tid);
    return index;
  }
  Index stray_thread(u32 tid) { return population_.thread(tid); }
  Index idle() { return population_.idle_thread(0); }

  void run(i64 time, Index old_thread, Index new_thread, u8 reason = 0) {
    ContextSwitch record{};
    record.moment = {time, u16{0}, {}};
    record.old_thread = old_thread;
    record.new_thread = new_thread;
    record.continues = true;
    record.old_state = old_thread == idle() ? ThreadState::ready : ThreadState::waiting;
    record.wait_reason = reason;
    use_.on_switch(record);
    waits_.on_switch(record);
  }
  void interrupt(i64 begin, i64 end, Service::Kind kind) {
    use_.on_interruption({{end, u16{0}, {}}, begin, {kind, 0x1000}});
  }
  void ask_disk(i64 begin, i64 end, Index thread, u32 disk) {
    DiskStart start{};
    start.moment.time = begin;
    start.irp = static_cast<u64>(begin);
    start.thread = thread;
    start.disk = disk;
    disk_.on_disk_start(start);
    if (end == 0) return;
    DiskEnd record{};
    record.moment.time = end;
    record.irp = start.irp;
    record.thread = nobody;
    disk_.on_disk_end(record);
  }
  void ask_file(i64 begin, i64 end, Index thread, std::string_view path) {
    FileStart start{};
    start.moment.time = begin;
    start.irp = 1;
    start.thread = thread;
    start.action = FileAction::read;
    start.path = path;
    files_.on_file_start(start);
    FileEnd record{};
    record.moment.time = end;
    record.irp = 1;
    files_.on_file_end(record);
  }
  void send(Index process, bool is_sent, u64 bytes) {
    network_.on_network_transfer({{}, process, Protocol::tcp, is_sent, false, bytes, "", {}});
  }
  void call(i64 begin, i64 end, Index thread, u64 service) {
    CallRecord record{};
    record.moment.time = begin;
    record.thread = thread;
    record.enters = true;
    record.service = Service{Service::Kind::system_call, service};
    services_.on_call(record);
    if (end == 0) return;
    record.moment.time = end;
    record.enters = false;
    services_.on_call(record);
  }

  TopPage page(u64 top) {
    for (auto* const one : analyses_) one->finish(observed_);
    return {trace_, population_, answers_, top};
  }
  Index process_of(Index thread) const { return population_.threads()[thread].process; }
  const std::string& path(u32 file) const { return files_.files()[file].name; }

 private:
  std::vector<std::byte> bytes_;
  core::Findings findings_;
  tracefile::AnyTrace trace_;
  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, 100, 200};
  ImageOffsets images_{trace_.names()};
  CodeNames code_{trace_.names(), images_};
  ProcessorUse use_{trace_.clock(), trace_.names().sampling_intervals(), code_};
  LongestWaits waits_{1000};
  Deadlocks deadlocks_;
  DiskIo disk_{trace_.names(), std::nullopt, CounterTicks{}};
  FileIo files_{trace_.names()};
  NetworkIo network_;
  Services services_{code_};
  std::array<Analysis*, 7> analyses_{&use_,   &waits_,   &deadlocks_, &disk_,
                                     &files_, &network_, &services_};
  TopAnswers answers_{use_, code_, waits_, deadlocks_, disk_, files_, network_, services_};
};

std::vector<Topic> topics_of(const TopPage& page) {
  std::vector<Topic> found;
  for (const auto topic : topics)
    if (page.has(topic)) found.push_back(topic);
  return found;
}

}  // namespace

TEST_CASE("a page of a trace without events has the machine and nothing else") {
  fixtures::EtlSession session;
  session.processors = 6;
  session.pointer_size = 4;
  session.events_lost = 3;
  session.buffers_lost = 2;
  Told told{session};
  const auto page = told.page(4);
  CHECK(page.empty());
  CHECK(topics_of(page).empty());
  REQUIRE(page.machine);
  CHECK(page.machine->processors == 6);
  CHECK(page.machine->pointer_size == 4);
  CHECK(page.events_lost.all == 3);
  CHECK(page.buffers_lost.all == 2);
  CHECK_FALSE(page.busiest_disk);
  CHECK(page.processors.time() == 0);
}

TEST_CASE("a process alone is something, though no topic has anything") {
  Told told;
  told.thread(8);
  const auto page = told.page(4);
  CHECK_FALSE(page.empty());
  CHECK(topics_of(page).empty());
}

TEST_CASE(
    "processes are those that ran longest, without idle threads, and the others are counted") {
  Told told;
  const auto a = told.thread(4), b = told.thread(8), c = told.thread(12);
  told.run(100, told.idle(), a);
  told.run(110, a, b);
  told.run(140, b, c);
  told.run(160, c, told.idle());
  told.run(190, told.idle(), c);  // until when is not told
  const auto page = told.page(2);
  CHECK(topics_of(page) == std::vector{Topic::processor, Topic::waits});
  const auto& processors = page.processors;
  CHECK(processors.count == 1);
  CHECK(processors.busy == 60);
  CHECK(processors.idle == 30);
  CHECK(processors.unknown == 10);
  CHECK(processors.time() == 100);
  Rows rows;
  for (const auto& one : processors.processes.rows) rows.emplace_back(one.process, one.running);
  CHECK(rows == Rows{{told.process_of(b), 30}, {told.process_of(c), 20}});
  CHECK(processors.processes.more == 1);
}

TEST_CASE("who ran in a process that the trace does not tell is nobody") {
  Told told;
  const auto known = told.thread(4), stray = told.stray_thread(8);
  told.run(100, told.idle(), known);
  told.run(110, known, stray);
  told.run(150, stray, told.idle());
  const auto page = told.page(all_rows);
  Rows rows;
  for (const auto& one : page.processors.processes.rows)
    rows.emplace_back(one.process, one.running);
  CHECK(rows == Rows{{nobody, 40}, {told.process_of(known), 10}});
}

TEST_CASE("interrupts alone are a driver's, and tell of processors") {
  Told told;
  told.interrupt(110, 115, Service::Kind::dpc);
  told.interrupt(120, 122, Service::Kind::isr);
  const auto page = told.page(all_rows);
  CHECK(topics_of(page) == std::vector{Topic::processor});
  REQUIRE(page.processors.drivers.rows.size() == 1);
  const auto& driver = page.processors.drivers.rows.front();
  CHECK(driver.in_dpc == 5);
  CHECK(driver.in_isr == 2);
  CHECK(page.processors.unknown == 100);
}

TEST_CASE("the longest waits come first, and the others are counted") {
  Told told;
  const auto a = told.thread(4), b = told.thread(8);
  told.run(100, told.idle(), a);
  told.run(110, a, b);
  told.run(120, b, a);
  told.run(150, a, b);
  told.run(170, b, a);
  const auto page = told.page(1);
  REQUIRE(page.waits.rows.size() == 1);
  CHECK(page.waits.rows.front().from == 110 + 10);
  CHECK(page.waits.rows.front().to == 150);
  CHECK(page.waits.more == 2);
  CHECK(page.lasting_deadlocks == 0);
}

TEST_CASE("requests to disks are those of the processes that waited longest") {
  Told told;
  const auto a = told.thread(4), b = told.thread(8);
  told.ask_disk(100, 110, a, 1);
  told.ask_disk(120, 160, b, 0);
  const auto page = told.page(1);
  CHECK(topics_of(page) == std::vector{Topic::disk});
  REQUIRE(page.disk.processes.rows.size() == 1);
  CHECK(page.disk.processes.rows.front().first == told.process_of(b));
  CHECK(page.disk.processes.rows.front().second->response == 40);
  CHECK(page.disk.processes.more == 1);
  REQUIRE(page.disk.files.rows.size() == 1);
  CHECK(page.disk.files.rows.front().first == 0);
  REQUIRE(page.busiest_disk);
  CHECK(page.busiest_disk->number == 0U);
  CHECK(page.busiest_disk->busy == 40);
}

TEST_CASE("of disks that are as busy as each other the first one is told") {
  Told told;
  const auto a = told.thread(4);
  told.ask_disk(100, 110, a, 2);
  told.ask_disk(120, 130, a, 1);
  CHECK(told.page(1).busiest_disk->number == 1U);
}

TEST_CASE("a request that is never answered is something of a disk") {
  Told told;
  told.ask_disk(100, 0, told.thread(4), 0);
  const auto page = told.page(1);
  CHECK(page.has(Topic::disk));
  CHECK(page.disk.processes.rows.empty());
}

TEST_CASE("operations on files are summed up, and files are those that took longest") {
  Told told;
  const auto a = told.thread(4), b = told.thread(8);
  told.ask_file(100, 103, a, "short");
  told.ask_file(110, 130, b, "long");
  told.ask_file(140, 145, a, "short");
  const auto page = told.page(1);
  CHECK(topics_of(page) == std::vector{Topic::file_operations});
  CHECK(page.file_operations.operations == 3);
  CHECK(page.file_operations.time == 28);
  REQUIRE(page.files.files.rows.size() == 1);
  CHECK(told.path(page.files.files.rows.front().first) == "long");
  CHECK(page.files.files.more == 1);
  CHECK(page.files.processes.rows.front().first == told.process_of(b));
}

TEST_CASE("the network is ordered by bytes, whatever their direction and their sum") {
  Told told;
  const auto a = told.process_of(told.thread(4)), b = told.process_of(told.thread(8)),
             c = told.process_of(told.thread(12));
  told.send(a, true, 300);
  told.send(b, true, 200);
  told.send(b, false, 200);
  told.send(c, true, std::numeric_limits<u64>::max());
  told.send(c, false, std::numeric_limits<u64>::max());
  const auto page = told.page(2);
  CHECK(topics_of(page) == std::vector{Topic::network});
  REQUIRE(page.network.rows.size() == 2);
  CHECK(page.network.rows[0].first == c);
  CHECK(page.network.rows[1].first == b);
  CHECK(page.network.more == 1);
}

TEST_CASE("services are those with the longest calls and those that cost most, once each") {
  Told told;
  const auto thread = told.thread(4);
  told.call(100, 130, thread, 1);                                                      // 30 in one
  for (i64 time = 130; time < 170; time += 10) told.call(time, time + 10, thread, 2);  // 40 in four
  told.call(170, 175, thread, 3);
  told.call(180, 0, thread, 4);
  const auto page = told.page(1);
  CHECK(topics_of(page) == std::vector{Topic::services});
  Rows rows;
  for (const auto* const one : page.services.rows)
    rows.emplace_back(static_cast<u32>(one->service.number), one->inclusive);
  CHECK(rows == Rows{{1, 30}, {2, 40}});
  CHECK(page.services.more == 1);
  CHECK(told.page(3).services.rows.size() == 3);
}
