#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::tracefile {

// One file of a packed file.
struct PackedMember {
  std::string name;  // as the archive has it; empty in a packing of one file without a name
  bool encrypted = false;
  bool is_file = true;  // and no folder or link
};

// What a packed file holds, one member after the other.
class PackedReader {
 public:
  // `encrypted` are the members' names, so that there is none to read.
  enum class State : u8 { member, end, damaged, encrypted };

  PackedReader(const PackedReader&) = delete;
  PackedReader& operator=(const PackedReader&) = delete;
  virtual ~PackedReader() = default;

  virtual State next(PackedMember& member) = 0;
  // The next bytes of the member, as many as there is room for; fewer at its end, or where it is
  // damaged.
  virtual std::size_t read(std::span<std::byte> destination) = 0;

  // What is wrong with the member that was read or with all behind it; empty: nothing.
  const std::string& damage() const { return damage_; }

 protected:
  PackedReader() = default;

  std::string damage_;
};

// Of a gzip file.
std::unique_ptr<PackedReader> read_gzip(const core::ImageSource& source);

// Of the other kinds that unpack() knows. Null where there is no libarchive.
std::unique_ptr<PackedReader> read_archive(const core::ImageSource& source, core::FileKind kind);

}  // namespace coldtrace::tracefile
