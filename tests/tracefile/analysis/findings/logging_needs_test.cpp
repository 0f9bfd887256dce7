#include "coldtrace/trace_analysis/findings/logging_needs.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"
#include "fixtures/builders/etl_file.hpp"
#include "fixtures/builders/value_of.hpp"

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

tracefile::AnyTrace open(core::ByteView bytes) {
  core::Findings findings;
  return fixtures::value_of(
      tracefile::AnyTrace::open(std::make_unique<core::MemoryImage>(bytes), {}, findings));
}

std::vector<std::byte> build_ctrace() {
  std::vector<std::byte> bytes;
  tracefile::CtraceWriter::Options options;
  options.header.pointer_size = 8;
  options.header.clock = tracefile::ClockType::cpu_cycles;
  options.header.processors = 1;
  options.header.frequency = 1'000'000;
  options.header.schema_text =
      "schema one {11111111-2222-3333-4444-555555555555};\nevent Number = 1 { u64 number; }\n";
  options.buffer_size = 4096;
  tracefile::CtraceWriter writer{
      options, [&](core::ByteView view) { bytes.insert(bytes.end(), view.begin(), view.end()); }};
  writer.end();
  return bytes;
}

}  // namespace

TEST_CASE("what has to be logged for a topic is named as the tracer of the trace names it") {
  using Needs = std::vector<std::string_view>;
  struct Row {
    Topic topic;
    std::string_view name;
    Needs flags, sets;
  };
  const auto row = GENERATE(values<Row>({
      {Topic::processor,
       "processor",
       {"CSWITCH", "PROFILE", "DPC", "INTERRUPT"},
       {"wmk", "vtrace"}},
      {Topic::disk, "disk", {"DISK_IO"}, {"vtrace"}},
      {Topic::file_operations, "file_operations", {"FILE_IO_INIT", "FILE_IO"}, {"vtrace"}},
      {Topic::network, "network", {"NETWORK_TCPIP"}, {"vtrace"}},
      {Topic::waits, "waits", {"CSWITCH", "DISPATCHER"}, {"wmk", "vtrace"}},
      {Topic::services,
       "services",
       {"SYSTEMCALL", "DPC", "INTERRUPT"},
       {"wmk", "vtrace", "dynamic_tracing", "vxdmon"}},
  }));
  CHECK(to_string(row.topic) == row.name);
  fixtures::EtlBuffer buffer{0};
  const auto etl = fixtures::build_etl({}, {buffer});
  CHECK(logging_needs(row.topic, open(etl)) == row.flags);
  const auto ctrace = build_ctrace();
  CHECK(logging_needs(row.topic, open(ctrace)) == row.sets);
}

TEST_CASE("a sentence that says what is missing has the kernel's flags that have it logged") {
  fixtures::EtlBuffer buffer{0};
  const auto etl_bytes = fixtures::build_etl({}, {buffer});
  const auto etl = open(etl_bytes);
  CHECK(logging_hint({}, etl).empty());
  CHECK(logging_hint({Need::readied}, etl) == " (DISPATCHER of the kernel's flags)");
  CHECK(logging_hint({Need::samples, Need::switches, Need::interrupts}, etl) ==
        " (PROFILE, CSWITCH, DPC and INTERRUPT of the kernel's flags)");
  CHECK(logging_hint({Need::calls, Need::calls}, etl) == " (SYSTEMCALL of the kernel's flags)");
  CHECK(logging_hint({Need::processes}, etl) == " (PROCESS and THREAD of the kernel's flags)");
  const auto ctrace_bytes = build_ctrace();
  CHECK(logging_hint({Need::switches}, open(ctrace_bytes)).empty());
}

TEST_CASE("operations on files need the flag that logs their begin") {
  fixtures::EtlBuffer buffer{0};
  const auto etl = fixtures::build_etl({}, {buffer});
  CHECK(logging_hint({Need::disk_requests, Need::file_operations, Need::network_transfers},
                     open(etl)) ==
        " (DISK_IO, FILE_IO_INIT, FILE_IO and NETWORK_TCPIP of the kernel's flags)");
}
