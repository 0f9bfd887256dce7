// Makes a long trace from a short one: repeats its buffers, each time later by the length of the
// trace. A compressed trace stays compressed unless "plain" is given.
//
//   repeat_trace IN OUT TIMES [plain]

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"
#include "fixtures/builders/compressors.hpp"

namespace {

using namespace coldtrace;
using tracefile::BufferHeader;

constexpr std::size_t header_size = BufferHeader::size_on_disk;
// BuffersWritten of the first event, after its header of 32 bytes.
constexpr std::size_t buffers_written = header_size + 32 + 36;

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// The offset of the event's timestamp in its buffer, if it has one.
std::optional<std::size_t> time_offset(const tracefile::Event& event) {
  using tracefile::HeaderType;
  if (!event.has_time) return std::nullopt;
  switch (static_cast<HeaderType>(event.header_type)) {
    case HeaderType::perfinfo32:
    case HeaderType::perfinfo64:
      return event.offset + 8U;
    case HeaderType::message: {
      // Sequence, then a GUID or a component come first.
      const auto options = *core::load<u16>(event.header, 6);
      const std::size_t guid = (options & 2U) != 0 ? 16 : (options & 4U) != 0 ? 4 : 0;
      return event.offset + 8 + ((options & 1U) != 0 ? 4U : 0U) + guid;
    }
    default:
      return event.offset + 16U;
  }
}

class Repeater {
 public:
  Repeater(const core::ImageSource& source, const tracefile::BufferScan& scan, bool plain)
      : source_{source}, scan_{scan}, plain_{plain} {
    i64 last = scan.first_timestamp;
    for (const auto& entry : scan.buffers)
      if (entry.events > 0) last = std::max(last, entry.last_time);
    length_ = last - scan.first_timestamp + 1;
  }

  u64 write(std::ostream& out, i64 times) {
    for (i64 round = 0; round < times; ++round)
      for (const auto& entry : scan_.buffers)
        if (round == 0 || entry.offset != 0) write_buffer(out, entry, round, times);
    return events_;
  }

 private:
  void write_buffer(std::ostream& out, const tracefile::BufferEntry& entry, i64 round, i64 times) {
    const auto buffer = tracefile::load_buffer(source_, entry, scan_.compression);
    std::vector<std::byte> bytes{buffer->bytes.begin(), buffer->bytes.end()};
    tracefile::BufferWalker walker{buffer->bytes, tracefile::context_of(entry, scan_), header_size,
                                   tracefile::OnDamage::stop};
    for (; walker.next(); ++events_)
      if (const auto at = time_offset(walker.event()))
        put(bytes, *at, walker.event().timestamp + round * length_);
    const auto count = scan_.buffers.size() - 1;
    if (entry.offset == 0)
      put(bytes, buffers_written, static_cast<u32>(1 + count * static_cast<u64>(times)));
    const auto sequence = *core::load<u64>(bytes, 0x18);
    put(bytes, 0x18, sequence + static_cast<u64>(round) * count);
    if (entry.compressed() && !plain_) {
      const auto body = fixtures::compress_xpress(core::ByteView{bytes}.subspan(header_size));
      bytes.resize(header_size);
      bytes.insert(bytes.end(), body.begin(), body.end());
    } else if (entry.compressed()) {
      const auto flags = *core::load<u16>(bytes, 0x34);
      put(bytes, 0x34, static_cast<u16>(flags & ~BufferHeader::compressed));
    } else {
      bytes.resize(std::max<std::size_t>(bytes.size(), entry.size), std::byte{0xff});
    }
    put(bytes, 0, static_cast<u32>(bytes.size()));
    const auto text = core::to_chars(core::ByteView{bytes});
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  const core::ImageSource& source_;
  const tracefile::BufferScan& scan_;
  bool plain_;
  i64 length_;
  u64 events_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto file = core::FileImage::open(argv[1]);
  if (!file) return 1;
  core::Findings findings;
  const auto trace = tracefile::Trace::open(**file, {.names = false}, findings);
  if (!trace) return 1;
  std::ofstream out{argv[2], std::ios::binary};
  const auto events = Repeater{**file, trace->scan(), argc > 4}.write(out, std::atoll(argv[3]));
  std::cout << events << " events\n";
  return out.flush() ? 0 : 1;
}
