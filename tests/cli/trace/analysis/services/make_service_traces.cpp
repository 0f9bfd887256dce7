// Writes traces of services for trace_services.py, which says what they mean, into the
// folder named by the first argument.

#include <algorithm>

#include "fixtures/builders/etl_file.hpp"
#include "tests/cli/trace/ctrace_file.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using test::CtraceFile;
using tracefile::CtraceData;

// Of vxdmon.schema.
constexpr u16 service_call = 0x0301;
constexpr u16 service_return = 0x0302;
constexpr u16 service_name = 0x0303;

struct VxdService {
  u16 vxd, service;
};
constexpr VxdService get_version{0x0001, 0}, get_time{0x0001, 63}, ring0_file_io{0x0040, 50},
    nameless{0x048b, 7};

CtraceData of(VxdService service) {
  CtraceData data;
  return data.u16(service.vxd).u16(service.service);
}

void make_vxds(const std::filesystem::path& path) {
  CtraceFile file{"vxdmon"};
  const auto name = [&](VxdService service, std::string_view vxd, std::string_view text) {
    file.log(service_name, of(service).ansi(vxd).ansi(text));
  };
  const auto call = [&](VxdService service) { file.log(service_call, of(service).u16(0).u16(0)); };
  const auto done = [&](VxdService service, u64 cycles) {
    file.log(service_return, of(service).u16(0).u16(0).u64(cycles));
  };
  name(get_version, "VMM", "Get_VMM_Version");
  name(ring0_file_io, "IFSMgr", "IFSMgr_Ring0_FileIO");
  for (u64 i = 0; i < 10; ++i) {
    call(ring0_file_io);
    call(get_version);
    done(get_version, 290 + i);
    if (i % 3 == 0) {
      call(nameless);
      done(nameless, 280);
    }
    done(ring0_file_io, 1000 + i * i);
    call(get_time);
    done(get_time, 70);
  }
  name(get_time, "VMM", "Get_System_Time");  // a name may come late
  call(ring0_file_io);
  file.save(path);
}

// Begins and ends of four kinds of events in any order, in three threads.
void make_overlaps(const std::filesystem::path& path) {
  CtraceFile file{"wmk"};
  u32 state = 7;
  const auto random = [&](u32 count) {
    state = state * 1'664'525 + 1'013'904'223;
    return (state >> 16U) % count;
  };
  for (int i = 0; i < 900; ++i) {
    const u32 thread = 12 + 4 * random(3);
    const auto caller = CtraceData{}.u32(8).u32(thread);
    switch (random(4)) {
      case 0:
        file.log(0x0201, CtraceData{}.u32(8).u32(thread).u32(4));
        break;
      case 1:
        file.log(0x0202, CtraceData{}.u32(8).u32(thread).u32(4).u32(0));
        break;
      case 2:
        file.log(0x0205,
                 CtraceData{}.u32(8).u32(thread).word(0).word(0x1000 + random(4)).u8(2).u8(6));
        break;
      default:
        file.log(0x0206,
                 CtraceData{}.u32(8).u32(thread).word(0).word(0x1000 + random(4)).u8(2).u32(0));
    }
  }
  file.save(path);
}

constexpr u16 image_load = 0x030a;
constexpr u16 image_unload = 0x1402;
constexpr u16 context_switch = 0x0524;
constexpr u16 call_enter = 0x0f33;
constexpr u16 call_exit = 0x0f34;
constexpr u16 deferred_call = 0x0f44;
constexpr u64 base = 0xffff'f880'0100'0000;

ByteWriter image(u64 at, std::string_view name) {
  ByteWriter out;
  out.write_u64(at).write_u64(0x10000).write_u32(0).write_zeros(12);
  out.write_u64(at).write_zeros(16);
  return out.write_bytes(fixtures::utf16z(name).view());
}

ByteWriter routine(i64 begin, u64 address) {
  ByteWriter out;
  return out.write_u64(static_cast<u64>(begin)).write_u64(address);
}

ByteWriter address(u64 where) {
  ByteWriter out;
  return out.write_u64(where);
}

// One address: a driver, the same one loaded elsewhere, and another one.
void make_moved(const std::string& path) {
  const u64 code = base + 0x2040;
  EtlBuffer buffer{0};
  i64 time = 1'000'000;
  buffer.perfinfo(context_switch, 4, time += 100, fixtures::context_switch(44, 0));
  struct Load {
    u64 at;
    std::string_view name;
  };
  for (const auto& [at, name] :
       {Load{base, "\\d\\first.sys"}, Load{base + 0x1000, "\\d\\first.sys"},
        Load{base, "\\d\\second.sys"}}) {
    buffer.system(image_load, 2, {8, 4, time += 100}, image(at, name));
    time += 100;
    buffer.perfinfo(deferred_call, 2, time + 30, routine(time, code));
    buffer.perfinfo(call_enter, 2, time += 100, address(code));
    buffer.perfinfo(call_exit, 2, time += 10, ByteWriter{}.write_u32(0));
    buffer.system(image_unload, 2, {8, 4, time += 100}, image(at, name));
  }
  buffer.perfinfo(call_enter, 2, time += 100, address(code));
  buffer.perfinfo(call_exit, 2, time += 10, ByteWriter{}.write_u32(0));
  fixtures::write_etl(path, {.buffer_size = 65536}, {buffer});
}

// A call in each millisecond, 56 more than rows that are kept.
void make_rows(const std::string& path) {
  constexpr i64 millisecond = 10'000;
  std::vector<EtlBuffer> buffers;
  i64 time = 1'000'000;
  for (int i = 0; i < (1 << 18) + 56;) {
    EtlBuffer buffer{0};
    for (int end = std::min(i + 1500, (1 << 18) + 56); i < end; ++i, time += millisecond)
      buffer.perfinfo(deferred_call, 2, time + 20, routine(time, base));
    buffers.push_back(std::move(buffer));
  }
  fixtures::write_etl(path, {.buffer_size = 65536}, buffers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder{argv[1]};
  make_vxds(folder / "vxds.ctrace");
  make_overlaps(folder / "overlaps.ctrace");
  make_moved((folder / "moved.etl").string());
  make_rows((folder / "rows.etl").string());
}
