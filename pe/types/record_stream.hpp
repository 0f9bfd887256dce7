#pragma once

#include <optional>

#include "coldtrace/pdb/msf.hpp"

namespace coldtrace::pe {

// A stream of type records, TPI or IPI. Source: LLVM, "The PDB TPI and IPI Streams".
struct RecordStream {
  StreamBytes bytes;
  u32 version = 0;
  u32 first_index = 0;
  core::ByteView records;
  u64 position = 0;  // of the records in the stream

  // Fails where the header cannot be used.
  static core::Result<RecordStream> read(const Msf& msf, u32 number, core::Name name);
};

// The record that begins there, from its kind on. Nothing where it does not lie in `records`.
std::optional<core::ByteView> find_record(core::ByteView records, u64 position);

}  // namespace coldtrace::pe
