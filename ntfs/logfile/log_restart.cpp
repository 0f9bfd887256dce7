#include "coldtrace/ntfs/logfile/log_restart.hpp"

#include <algorithm>
#include <cstring>

#include "coldtrace/core/utf16.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u32 magic_rstr = 0x52545352;  // "RSTR"
constexpr u32 magic_chkd = 0x444b4843;  // "CHKD"
constexpr u16 no_client = 0xffff;

bool is_power_of_two(u64 value) {
  return value != 0 && (value & (value - 1)) == 0;
}

// As apply_fixups(), for a head that is shorter than that of other structures: the array is at
// 0x1e. Whether all strides were written.
bool put_fixups_back(std::span<std::byte> page) {
  constexpr u16 head_size = 0x1e;
  const u16 array = core::load<u16>(page, 4).value_or(0);
  const u16 count = core::load<u16>(page, 6).value_or(0);
  const std::size_t strides = page.size() / fixup_stride;
  if (array < head_size || array % 2 != 0 || count != strides + 1 ||
      std::size_t{array} + std::size_t{count} * 2 > fixup_stride - 2)
    return false;
  bool whole = true;
  for (std::size_t i = 1; i <= strides; ++i) {
    auto* const place = page.data() + i * fixup_stride - 2;
    if (std::memcmp(place, page.data() + array, 2) == 0)
      std::memcpy(place, page.data() + array + i * 2, 2);
    else
      whole = false;
  }
  return whole;
}

void read_client(core::ByteView area, u16 offset, u16 in_use, LogRestart& restart) {
  constexpr u64 client_size = 160;
  if (in_use == no_client) return;
  const auto client = core::slice(area, offset + u64{in_use} * client_size, client_size);
  if (!client) return;
  restart.oldest_lsn = core::load<u64>(*client, 0);
  restart.restart_lsn = core::load<u64>(*client, 8);
  const auto name = core::slice(*client, 32, core::load<u32>(*client, 28).value_or(0));
  if (name) restart.client = core::decode_utf16(*name).utf8;
}

}  // namespace

core::Result<LogRestart> read_log_restart(std::span<std::byte> page, u64 offset) {
  using core::Fault;
  core::Reader in{page, "restart page", offset};
  const u32 magic = in.read_u32("Magic");
  if (magic != magic_rstr && magic != magic_chkd)
    in.reject(Fault::bad_magic, offset, "Magic", magic_rstr, magic);
  if (!in.ok()) return core::fail(in.error());
  LogRestart restart{.offset = offset, .after_chkdsk = magic == magic_chkd};
  restart.torn = !put_fixups_back(page);
  in.skip(4, "Fixup");
  restart.chkdsk_lsn = in.read_u64("ChkDskLsn");
  in.skip(4, "SystemPageSize");
  restart.log_page_size = in.read_u32("LogPageSize");
  const u16 area_offset = in.read_u16("RestartOffset");
  restart.minor = in.read_u16("MinorVersion");
  restart.major = in.read_u16("MajorVersion");
  if (restart.log_page_size < 1024 || restart.log_page_size > 65536 ||
      !is_power_of_two(restart.log_page_size))
    in.reject(Fault::bad_value, offset + 0x14, "LogPageSize", 4096, restart.log_page_size);
  if (!in.ok()) return core::fail(in.error());
  const auto area =
      core::slice(page, area_offset, page.size() - std::min<u64>(area_offset, page.size()));
  if (!area)
    return core::fail({Fault::out_of_bounds, offset + 0x18, "restart page", "RestartOffset",
                       page.size(), area_offset});
  core::Reader fields{*area, "restart area", offset + area_offset};
  restart.current_lsn = fields.read_u64("CurrentLsn");
  fields.skip(4, "Clients");
  const u16 in_use = fields.read_u16("ClientInUseList");
  restart.flags = fields.read_u16("Flags");
  restart.sequence_bits = fields.read_u32("SeqNumberBits");
  fields.skip(2, "RestartAreaLength");
  const u16 clients = fields.read_u16("ClientArrayOffset");
  restart.file_size = fields.read_u64("FileSize");
  fields.skip(4, "LastLsnDataLength");
  restart.record_header_size = fields.read_u16("RecordHeaderLength");
  restart.data_offset = fields.read_u16("LogPageDataOffset");
  // With fewer bits an offset is shifted out of its number; with more none is left.
  if (restart.sequence_bits < 4 || restart.sequence_bits > 60)
    fields.reject(Fault::bad_value, offset + area_offset + 16, "SeqNumberBits", 40,
                  restart.sequence_bits);
  if (restart.record_header_size < 48 || restart.record_header_size > 256 ||
      restart.record_header_size % 8 != 0)
    fields.reject(Fault::bad_value, offset + area_offset + 36, "RecordHeaderLength", 48,
                  restart.record_header_size);
  if (restart.data_offset < 40 || restart.data_offset % 8 != 0 ||
      restart.data_offset + u32{restart.record_header_size} > restart.log_page_size)
    fields.reject(Fault::bad_value, offset + area_offset + 38, "LogPageDataOffset", 64,
                  restart.data_offset);
  if (!fields.ok()) return core::fail(fields.error());
  read_client(*area, clients, in_use, restart);
  return restart;
}

}  // namespace coldtrace::ntfs
