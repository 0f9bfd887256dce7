#include "coldtrace/registry/hive/base_block.hpp"

#include "coldtrace/core/utf16.hpp"

namespace coldtrace::registry {

u32 base_block_checksum(core::ByteView sector) {
  u32 sum = 0;
  for (u64 at = 0; at < BaseBlock::checksum_offset; at += 4)
    sum ^= core::load<u32>(sector, at).value_or(0);
  if (sum == 0xffffffff) return 0xfffffffe;
  return sum == 0 ? 1 : sum;
}

core::Result<BaseBlock> read_base_block(core::ByteView file) {
  core::Reader reader{file, "REGF base block", 0};
  reader.expect<u32>(0x66676572, "Signature");  // "regf"
  BaseBlock block{};
  block.primary_sequence = reader.read_u32("PrimarySequenceNumber");
  block.secondary_sequence = reader.read_u32("SecondarySequenceNumber");
  block.last_written = {reader.read_u64("LastWritten")};
  reader.skip(4, "MajorVersion");
  block.minor_version = reader.read_u32("MinorVersion");
  block.type = reader.read_u32("FileType");
  reader.skip(4, "FileFormat");
  block.root = reader.read_u32("RootCellOffset");
  block.bins_size = reader.read_u32("HiveBinsDataSize");
  reader.skip(4, "ClusteringFactor");
  const auto name = reader.take(64, "FileName");
  reader.skip(BaseBlock::checksum_offset - reader.consumed(), "Reserved");
  block.checksum = reader.read_u32("Checksum");
  if (!reader.ok()) return core::fail(reader.error());
  block.name = core::decode_exact(core::until_nul_unit(name));
  block.expected_checksum = base_block_checksum(file);
  return block;
}

}  // namespace coldtrace::registry
