#pragma once

#include <string>
#include <unordered_map>

#include <protozero/pbf_writer.hpp>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/trace_export/byte_sink.hpp"

namespace coldtrace::trace_export {

// Writes the packets of a trace of Perfetto, compressed in groups or not.
class PerfettoPackets {
 public:
  PerfettoPackets(ByteSink write, bool compress) : write_{std::move(write)}, compress_{compress} {}

  // A packet whose fields `fill` adds.
  template <class Fill>
  void add(Fill fill) {
    packet_.clear();
    {
      protozero::pbf_writer packet{packet_};
      fill(packet);
    }
    put();
  }

  // The number that stands for a name; 0: there are too many.
  u64 intern(const std::string& name);

  void finish();

 private:
  void put();
  void compress();

  static constexpr std::size_t most_names = std::size_t{1} << 16U;
  // Perfetto refuses 512 KiB of them in one packet.
  static constexpr std::size_t group_size = std::size_t{256} << 10U;

  ByteSink write_;
  bool compress_;
  std::string packet_, framed_, group_;
  std::unordered_map<std::string, u64> names_;
};

}  // namespace coldtrace::trace_export
