#include "tracefile/packing/packed_reader.hpp"

namespace coldtrace::tracefile {

std::unique_ptr<PackedReader> read_archive(const core::ImageSource&, core::FileKind) {
  return nullptr;
}

}  // namespace coldtrace::tracefile
