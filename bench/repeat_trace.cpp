// Makes a long trace of a short one: its buffers again and again, each time later by the length of
// the trace. A compressed trace stays compressed unless "plain" is asked for.
//
//   repeat_trace IN OUT TIMES [plain]

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "core/file.hpp"
#include "fixtures/compressors.hpp"
#include "tracefile/trace.hpp"

namespace {

using namespace coldtrace;

// Where the record at `offset` has its timestamp.
std::size_t time_offset(const tracefile::Event& event) {
  const auto type = static_cast<tracefile::HeaderType>(event.header_type);
  const bool perfinfo =
      type == tracefile::HeaderType::perfinfo32 || type == tracefile::HeaderType::perfinfo64;
  return event.offset + (perfinfo ? 8U : 16U);
}

void put(std::vector<std::byte>& bytes, std::size_t at, u32 value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto file = core::FileImage::open(argv[1]);
  if (!file) return 1;
  core::Findings findings;
  const auto trace = tracefile::Trace::open(**file, {.names = false}, findings);
  if (!trace) return 1;
  const bool plain = argc > 4;
  const auto& scan = trace->scan();
  i64 last = scan.first_timestamp;
  for (const auto& entry : scan.buffers)
    if (entry.events > 0) last = std::max(last, entry.last_time);
  const i64 length = last - scan.first_timestamp + 1;
  std::ofstream out{argv[2], std::ios::binary};
  u64 events = 0;
  for (i64 round = 0; round < std::atoll(argv[3]); ++round) {
    for (const auto& entry : scan.buffers) {
      if (round > 0 && entry.offset == 0) continue;
      const auto buffer = tracefile::load_buffer(**file, entry, scan.compression);
      std::vector<std::byte> bytes{buffer->bytes.begin(), buffer->bytes.end()};
      tracefile::BufferWalker walker{buffer->bytes, tracefile::context_of(entry, scan.header),
                                     tracefile::BufferHeader::size_on_disk};
      for (; walker.next(); ++events) {
        const i64 time = walker.event().timestamp + round * length;
        std::memcpy(bytes.data() + time_offset(walker.event()), &time, sizeof(time));
      }
      const core::ByteView view{bytes};
      std::vector<std::byte> body{view.begin() + 72, view.end()};
      if (entry.compressed() && !plain) {
        body = fixtures::compress_xpress(view.subspan(72));
      } else if (entry.compressed()) {
        u16 flags;
        std::memcpy(&flags, bytes.data() + 0x34, sizeof(flags));
        flags = static_cast<u16>(flags & ~tracefile::BufferHeader::compressed);
        std::memcpy(bytes.data() + 0x34, &flags, sizeof(flags));
      } else if (entry.size > bytes.size()) {
        body.resize(entry.size - 72, std::byte{0xff});
      }
      put(bytes, 0, static_cast<u32>(72 + body.size()));
      const auto write = [&](core::ByteView part) {
        for (const auto byte : part) out.put(static_cast<char>(byte));
      };
      write(core::ByteView{bytes}.first(72));
      write(body);
    }
  }
  std::cout << events << " events\n";
  return out.flush() ? 0 : 1;
}
