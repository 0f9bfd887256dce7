#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/pe/version_info.hpp"
#include "coldtrace/syscall-map/call_site.hpp"
#include "coldtrace/syscall-map/named_place.hpp"

namespace coldtrace::syscall_map {

// The bytes of an executable section.
struct CodeRange {
  pe::Rva start{};
  core::ByteView bytes;

  bool contains(pe::Rva rva) const {
    return start <= rva && value(rva) - value(start) < bytes.size();
  }
};

// What the search for the context switch reads of a kernel: its executable sections, the names of
// places, the functions of .pdata. Used only inside this library.
class KernelCode {
 public:
  KernelCode(const pe::ImageTables& tables, const std::vector<NamedPlace>& symbols);
  KernelCode(const pe::ImageTables&&, const std::vector<NamedPlace>&) = delete;

  const pe::ImageTables& tables() const { return tables_; }

  const pe::Image& image() const { return tables_.image(); }
  bool is_x64() const { return image().machine() == pe::Machine::amd64; }
  std::span<const CodeRange> ranges() const { return ranges_; }

  // As many of the `size` bytes at `rva` as an executable section has; the second starts before
  // `rva`, as far as the section allows.
  core::ByteView bytes(pe::Rva rva, u64 size) const;
  core::ByteView bytes_before(pe::Rva rva, u64 size) const;

  std::optional<pe::Rva> find_export(std::string_view name) const;
  bool is_export(pe::Rva rva) const { return names_.contains(rva); }

  // The function of .pdata that holds `rva`.
  std::optional<pe::FunctionRange> function_at(pe::Rva rva) const;
  bool starts_function(pe::Rva rva) const;

  // The function that holds `rva`, and its name, as far as .pdata, an export or a symbol tells
  // them.
  CallSite describe(pe::Rva rva) const;

  // The file version; nothing if there is none, and for Wine's files, whose versions are
  // meaningless.
  const std::optional<pe::VersionNumber>& version() const { return version_; }

 private:
  const CodeRange* find_range(pe::Rva rva) const;
  void read_exports();

  const pe::ImageTables& tables_;
  std::vector<CodeRange> ranges_;                // ascending, disjoint
  std::map<std::string_view, pe::Rva> exports_;  // code alone
  std::multimap<pe::Rva, std::string_view> names_;
  std::map<pe::Rva, std::string> symbols_;
  std::optional<pe::VersionNumber> version_;
};

}  // namespace coldtrace::syscall_map
