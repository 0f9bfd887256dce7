#include "tests/tracefile/ctrace/ctrace_file.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::test {
namespace {

tracefile::CtraceWriter::Options options_of(u32 processors, std::string_view schema,
                                            u32 buffer_size, u32 flags, u8 pointer_size) {
  tracefile::CtraceWriter::Options options;
  auto& header = options.header;
  header.flags = flags;
  header.pointer_size = pointer_size;
  header.clock = tracefile::ClockType::cpu_cycles;
  header.processors = processors;
  header.frequency = 3'000'000'000;
  header.start_time = {CtraceFile::start};
  header.windows_version = {10, 0, 19045};
  header.schema_text = schema;
  options.buffer_size = buffer_size;
  return options;
}

}  // namespace

CtraceFile::CtraceFile(u32 processors, std::string_view schema, u32 buffer_size, u32 flags,
                       u8 pointer_size)
    : writer{options_of(processors, schema, buffer_size, flags, pointer_size),
             [this](core::ByteView view) {
               offsets.push_back(bytes.size());
               bytes.insert(bytes.end(), view.begin(), view.end());
             }} {
  at_tick(0);
}

ReadCtrace read_ctrace(core::ByteView bytes, tracefile::StreamOptions options) {
  return read_ctrace(core::MemoryImage{bytes}, options);
}

ReadCtrace read_ctrace(const core::ImageSource& image, tracefile::StreamOptions options) {
  using Item = tracefile::EventSequence::Item;
  ReadCtrace read;
  const auto trace = tracefile::Ctrace::open(image, {}, read.findings);
  if (!trace) return read;
  read.opened = true;
  const auto& scan = (*trace)->scan();
  read.lost = scan.lost;
  read.uncommitted = scan.uncommitted;
  read.missing = scan.missing;
  read.closed = scan.closed;
  read.error_bound = (*trace)->error_bound();
  const auto stream = (*trace)->stream(options);
  for (auto item = stream->next(); item != Item::end; item = stream->next()) {
    if (item == Item::gap) {
      read.gaps.push_back(stream->gap());
      continue;
    }
    const auto& event = stream->event();
    read.events.push_back({event.file_time, event.id, event.version, event.cpu, event.pid,
                           std::string{core::to_chars(event.payload)}, event.approximate_time});
  }
  return read;
}

}  // namespace coldtrace::test
