// Writes traces of requests that no healthy machine has for trace_io.py, into the folder
// named by the first argument.

#include <fstream>
#include <string>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"
#include "coldtrace/tracefile/schema-language/built_in_schemas.hpp"
#include "fixtures/builders/etl_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;

constexpr u16 disk_read = 0x010a;
constexpr u16 disk_read_init = 0x010c;
constexpr i64 first = 1'000'000;
constexpr u32 issuer = 40;

class Requests {
 public:
  // Before Windows 8 the events do not name the issuer.
  explicit Requests(u16 version) : version_{version} {}

  Requests& begin(i64 time, u64 irp) {
    ByteWriter out;
    out.write_u64(irp);
    if (version_ >= 3) out.write_u32(issuer);
    buffer_.system(disk_read_init, version_, {issuer, 4, first + time}, out);
    return *this;
  }
  Requests& end(i64 time, u64 irp, u64 response, u32 disk = 0) {
    ByteWriter out;
    out.write_u32(disk).write_u32(0).write_u32(512).write_u32(0);
    out.write_u64(irp * 512).write_u64(0).write_u64(irp).write_u64(response);
    if (version_ >= 3) out.write_u32(issuer);
    buffer_.system(disk_read, version_, {99, 4, first + time}, out);
    return *this;
  }
  void save(const std::string& path, u32 buffer_size = 4096) {
    fixtures::write_etl(path, {.buffer_size = buffer_size}, {buffer_});
  }

 private:
  u16 version_;
  EtlBuffer buffer_{0};
};

// Requests to file systems, as Windows 7 (version 2) and later ones log them.
class FileRequests {
 public:
  explicit FileRequests(u16 version) : version_{version} {}

  FileRequests& create(i64 time, u64 irp, u32 tid, u64 object, std::string_view path) {
    ByteWriter out;
    out.write_u64(irp);
    if (version_ == 2) out.write_u64(tid);
    out.write_u64(object);
    if (version_ == 3) out.write_u32(tid);
    out.write_u32(0x60).write_u32(0).write_u32(3).write_bytes(fixtures::utf16z(path).view());
    return add(64, time, tid, out);
  }
  FileRequests& move(u8 opcode, i64 time, u64 irp, u32 tid, u64 object, u32 bytes) {
    ByteWriter out;
    out.write_u64(0);
    ids(out, irp, tid, object);
    return add(opcode, time, tid, out.write_u32(bytes).write_u32(0));
  }
  // Cleanup, Close, Flush.
  FileRequests& simple(u8 opcode, i64 time, u64 irp, u32 tid, u64 object) {
    ByteWriter out;
    ids(out, irp, tid, object);
    return add(opcode, time, tid, out);
  }
  // Version 3 has it twice: as a request, and with the path.
  FileRequests& remove(i64 time, u64 irp, u32 tid, u64 object) {
    ByteWriter out;
    if (version_ == 2) {
      ids(out, irp, tid, object);
      return add(70, time, tid, out.write_u64(1).write_u32(13));
    }
    out.write_u64(irp).write_u64(object).write_u64(object + 8).write_u64(1);
    out.write_u32(tid).write_u32(13);
    add(70, time, tid, out);
    return add(79, time, tid, out.write_bytes(fixtures::utf16z("gone").view()));
  }
  FileRequests& end(i64 time, u64 irp, u64 moved, u32 status = 0) {
    ByteWriter out;
    return add(76, time, 99, out.write_u64(irp).write_u64(moved).write_u32(status));
  }
  // Requests of thread 40, each of which ends before the next one begins.
  FileRequests& open(i64 time, u64 object, std::string_view path, u32 status = 0) {
    return create(time, 1, 40, object, path).end(time + 10, 1, 0, status);
  }
  FileRequests& read(i64 time, u64 object, u32 bytes) {
    constexpr u8 opcode = 67;
    return move(opcode, time, 1, 40, object, bytes).end(time + 10, 1, bytes);
  }
  void save(const std::string& path) { fixtures::write_etl(path, {}, {buffer_}); }

 private:
  void ids(ByteWriter& out, u64 irp, u32 tid, u64 object) const {
    out.write_u64(irp);
    if (version_ == 2) out.write_u64(tid);
    out.write_u64(object).write_u64(object + 8);
    if (version_ == 3) out.write_u32(tid);
  }
  FileRequests& add(u8 opcode, i64 time, u32 tid, const ByteWriter& payload) {
    buffer_.system(static_cast<u16>(0x0400 | opcode), version_, {tid, 4, first + time}, payload);
    return *this;
  }

  u16 version_;
  EtlBuffer buffer_{0};
};

void write_file_requests(const std::string& path, u16 version) {
  FileRequests{version}
      .create(100, 1, 40, 0x1000, "\\a.txt")
      .end(150, 1, 0)
      .move(67, 200, 2, 40, 0x1000, 512)
      .move(68, 210, 3, 44, 0x1000, 100)
      .end(260, 2, 300)
      .end(270, 3, 100)
      .move(67, 300, 4, 40, 0x1000, 512)
      .end(310, 4, 0, 0xc000'0011)
      .end(320, 77, 0)
      .remove(400, 5, 44, 0x1000)
      .end(450, 5, 0)
      .simple(65, 500, 6, 40, 0x1000)
      .end(510, 6, 0)
      .simple(66, 520, 6, 40, 0x1000)
      .simple(66, 530, 6, 40, 0x1000)
      .end(540, 6, 0)
      .simple(73, 600, 7, 40, 0x2000)
      .save(path);
}

// The address of a file object is used again: after a create that fails, after a close that is
// lost, after one that is not.
void write_reused_objects(const std::string& path) {
  constexpr u8 close = 66;
  FileRequests{3}
      .open(100, 0x1000, "\\secret.txt", 0xc000'0022)
      .read(120, 0x1000, 1)
      .open(200, 0x1000, "")
      .read(220, 0x1000, 2)
      .open(300, 0x2000, "\\a.txt")
      .read(320, 0x2000, 4)
      .open(400, 0x2000, "")
      .read(420, 0x2000, 8)
      .open(500, 0x2000, "\\b.txt")
      .read(520, 0x2000, 16)
      .simple(close, 600, 1, 40, 0x2000)
      .end(610, 1, 0)
      .read(620, 0x2000, 32)
      .save(path);
}

// A processor rests three times: an interrupt wakes thread 44; 48 takes the processor from it,
// waits, and 44 goes on; 48 is woken by 44, which waits.
void write_preemption(const std::string& path) {
  EtlBuffer buffer{0};
  constexpr u16 context_switch = 0x0524;
  constexpr u16 ready_thread = 0x0532;
  const auto go = [&](i64 time, u32 from, u32 to, u8 state) {
    ByteWriter out;
    out.write_u32(to).write_u32(from).write_u8(8).write_u8(8).write_u8(0).write_u8(0);
    out.write_u8(6).write_u8(0).write_u8(state).write_u8(0).write_zeros(8);
    buffer.perfinfo(context_switch, 4, first + time, out);
  };
  const auto ready = [&](i64 time, u32 tid, bool in_dpc) {
    ByteWriter out;
    out.write_u32(tid).write_u8(0).write_u8(0).write_u8(in_dpc ? 1 : 0).write_u8(0);
    buffer.perfinfo(ready_thread, 2, first + time, out);
  };
  constexpr u8 is_ready = 1, runs = 2, waits = 5;
  go(1000, 48, 0, waits);
  ready(1500, 44, true);
  go(1500, 0, 44, runs);
  go(2000, 44, 48, is_ready);
  go(3000, 48, 0, waits);
  go(4000, 0, 44, runs);
  ready(4500, 48, false);
  go(5000, 44, 0, waits);
  go(6000, 0, 48, runs);
  go(7000, 48, 0, waits);
  fixtures::write_etl(path, {.processors = 1}, {buffer});
}

// Requests to the network by vtrace.schema: a send, a receive that is cut short, and one whose end
// is missing.
void write_network_requests(const std::string& path) {
  using tracefile::CtraceData;
  constexpr u64 start = 133'000'000'000'000'000;
  constexpr u16 network_request = 0x0140;
  constexpr u16 network_completion = 0x0141;
  tracefile::CtraceWriter::Options options;
  options.header.pointer_size = 8;
  options.header.clock = tracefile::ClockType::cpu_cycles;
  options.header.processors = 1;
  options.header.frequency = 3'000'000'000;
  options.header.start_time = {start};
  for (const auto& schema : tracefile::built_in_schemas())
    if (schema.name == "vtrace") options.header.schema_text += schema.text;
  std::ofstream file{path, std::ios::binary};
  tracefile::CtraceWriter writer{options,
                                 [&](core::ByteView view) { file << core::to_chars(view); }};
  u64 tick = 0;
  writer.set_time(0, {start});
  writer.flush(true);
  const auto log = [&](u16 type, const CtraceData& data) {
    ++tick;
    writer.set_time(tick * 300, {start + tick});
    writer.write_full();
    writer.write(0, type, 0, data.view());
  };
  ByteWriter address;  // AF_INET, port 80, 10.0.0.7
  address.write_u16(2).write_u16(0x5000).write_u8(10).write_u8(0).write_u8(0).write_u8(7);
  address.write_zeros(8);
  const auto request = [&](u64 irp, u8 minor, u32 bytes) {
    CtraceData data;
    data.u32(8).u32(40).word(irp).word(0x1000).u8(minor).u32(bytes);
    log(network_request, data.counted_bytes(address.view()));
  };
  const auto completion = [&](u64 irp, u64 bytes) {
    log(network_completion, CtraceData{}.word(irp).u32(0).word(bytes));
  };
  request(1, 7, 500);
  request(2, 8, 4096);
  completion(1, 500);
  completion(2, 70);
  request(3, 3, 0);
  completion(3, 0);
  request(4, 10, 100);
  request(4, 10, 100);
  completion(9, 5);
  writer.end();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  Requests{2}.begin(100, 7).begin(200, 8).end(300, 7, 200).end(350, 9, 10).save(folder + "old.etl");
  // The end of a request is missing, and the beginning of the next one with its IRP.
  Requests{3}
      .begin(100, 7)
      .end(90'000, 7, 200)
      .begin(90'100, 8)
      .begin(90'200, 8)
      .end(90'300, 8, 100)
      .begin(90'400, 9)
      .save(folder + "unmatched.etl");
  write_file_requests(folder + "files-2.etl", 2);
  write_file_requests(folder + "files-3.etl", 3);
  write_reused_objects(folder + "reused.etl");
  write_preemption(folder + "preemption.etl");
  write_network_requests(folder + "network.ctrace");
  Requests disks{3};
  for (u32 i = 0; i < 600; ++i) disks.end(100 + 10 * i, i, 5, i % 300);
  disks.save(folder + "disks.etl", 1U << 20U);
  Requests many{3};
  for (u64 irp = 1; irp <= 65'540; ++irp) many.begin(100, irp);
  many.save(folder + "many.etl", 4U << 20U);
}
