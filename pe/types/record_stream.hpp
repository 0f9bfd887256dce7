#pragma once

#include <optional>
#include <vector>

#include "coldtrace/pdb/msf.hpp"

namespace coldtrace::pe {

// A stream of type records, TPI or IPI. Sources: LLVM, "The PDB TPI and IPI Streams"; for those of
// PDB 2.00, HDR, HDR_VC50Interim and HDR_16t of microsoft-pdb, PDB/dbi/tpi.h.
struct RecordStream {
  // In earlier versions, indexes have 16 bits.
  static constexpr u32 vc50_interim = 19'960'307;

  StreamBytes bytes;
  u32 version = 0;
  u32 first_index = 0;
  core::ByteView records;
  u64 position = 0;  // of the records in the stream

  [[nodiscard]] bool is_narrow() const { return version < vc50_interim; }

  // Fails if the header cannot be used.
  static core::Result<RecordStream> read(const Msf& msf, u32 number, core::Name name);
};

// The record that begins at `position`, from its kind on. Nothing if it does not lie in `records`.
std::optional<core::ByteView> find_record(core::ByteView records, u64 position);

}  // namespace coldtrace::pe
