#pragma once

#include <string>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::trace_analysis {

// Where the name of a function comes from.
enum class NameSource : u8 {
  none,  // there is no name
  pdb,
  exports,
  method,       // the .NET runtime names the method
  entry_point,  // that of the nearest entry point before the address
};

[[nodiscard]] std::string_view to_string(NameSource source);

// What lies at an address.
struct FunctionName {
  std::string module;      // file name of the image, or of a method's module; empty if not known
  u64 module_offset = 0;   // in the module, in bytes; 0 for a method whose code has a range
  std::string function{};  // its own name; empty if none is known
  u64 offset = 0;          // from its start
  NameSource source = NameSource::none;
  std::string_view tier{};  // how the runtime has compiled a method; empty: not said
  bool is_cold = false;     // a part of a method that is away from the rest

  [[nodiscard]] bool known() const { return !module.empty() || !function.empty(); }
  // "NtClose+0x14"; empty if no function is known.
  [[nodiscard]] std::string place() const;
  // "ntdll.dll!NtClose"; without a function, each address stands for itself, "ntdll.dll+0x1f2a0".
  // Empty if nothing is known.
  [[nodiscard]] std::string label() const;
  // "ntdll.dll!NtClose+0x14"
  [[nodiscard]] std::string text() const;
};

// Names what lies at an address of a process, or of the kernel, at a time. Sources that know
// symbols are added by whoever has the files.
class FunctionNames {
 public:
  virtual ~FunctionNames() = default;

  // May read files.
  virtual FunctionName find(std::optional<u32> pid, u64 address, i64 time) = 0;

 protected:
  FunctionNames() = default;
  FunctionNames(const FunctionNames&) = default;
  FunctionNames& operator=(const FunctionNames&) = default;
};

// A place in an image, whose path is number `file`: builds may share a path.
struct ImagePlace {
  u32 file;
  u64 offset;
  friend bool operator==(const ImagePlace&, const ImagePlace&) = default;

  struct Hash {
    [[nodiscard]] std::size_t operator()(const ImagePlace& place) const {
      return std::hash<u64>{}((place.offset ^ u64{place.file} << 44U) * 0x9e37'79b9'7f4a'7c15U);
    }
  };
};

// What the trace itself says: managed methods, "mscorlib.dll!System.String.Concat", as reported by
// the .NET runtime; everything else by the images loaded at the time, "ntdll.dll+0x1f2a0".
class ImageOffsets final : public FunctionNames {
 public:
  // `names` must outlive it.
  explicit ImageOffsets(core::Borrowed<tracefile::NameTables> names) : names_{names.get()} {}

  FunctionName find(std::optional<u32> pid, u64 address, i64 time) override;

 private:
  const tracefile::NameTables& names_;
};

}  // namespace coldtrace::trace_analysis
