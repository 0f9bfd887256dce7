#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/service_table.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// Service numbers have 12 bits below the table's.
constexpr u32 most_services_of_table = 0x1000;

// An exported service NtX whose number the exported stub ZwX gives.
struct NumberedFunction {
  u16 number;
  pe::Rva rva;
};

// The stubs of a kernel, as far as service tables need them.
struct KernelStubs {
  u64 count = 0;                            // distinct numbers
  std::vector<NumberedFunction> functions;  // by number, no two with one RVA
};

// Where a number of services is stored, followed by as many argument bytes.
struct LimitPlace {
  pe::Rva limit;
  u32 count;

  pe::Rva arguments() const { return limit + sizeof(u32); }
};

// What all methods of finding a service table share: the image's relocations, exports and words.
class TableSearch {
 public:
  explicit TableSearch(const KernelView& view);

  const KernelView& view() const { return view_; }
  const pe::Image& image() const { return image_; }
  core::Findings& findings() { return findings_; }
  const std::vector<pe::BaseRelocation>& relocations() const { return relocations_; }
  std::optional<pe::Rva> find_export(std::string_view name) const {
    return view_.find_export(name);
  }
  std::string_view module_name() const { return view_.exports().directory.module_name; }

  // Whether the loader relocates the word at `at` as it does words of that form.
  bool is_relocated(pe::Rva at, TableForm form) const;

  // The stored u32 at `at`.
  std::optional<u32> read_u32(pe::Rva at) const;

  // Where the entry at `at` leads; nothing if it is not stored or leads out of the image.
  std::optional<pe::Rva> read_target(pe::Rva at, TableForm form) const;

  // Whether `count` argument bytes are stored at `at`: multiples of four, for up to 17 arguments.
  bool holds_arguments(pe::Rva at, u64 count) const;

  // All aligned words between `least` and `most` that are followed by as many argument bytes, not
  // all zero; at most 64.
  std::vector<LimitPlace> find_limits(u32 least, u32 most) const;

  // The sections, as far as the file stores them. Sections that share bytes of the file are cut off
  // once there are more bytes than the file has: no table needs the same bytes twice.
  struct StoredSection {
    pe::Rva start;
    u64 size;
    bool code;
  };
  const std::vector<StoredSection>& stored_sections() const { return sections_; }
  core::ByteView read(const StoredSection& section) const {
    return image_.bytes(section.start, section.size);
  }

 private:
  const KernelView& view_;
  const pe::Image& image_;
  core::Findings findings_;
  std::vector<pe::BaseRelocation> relocations_;
  std::vector<StoredSection> sections_;
};

constexpr pe::RelocationType relocation_of(TableForm form) {
  return form == TableForm::va32 ? pe::RelocationType::highlow : pe::RelocationType::dir64;
}

constexpr u64 entry_size(TableForm form) {
  return form == TableForm::va64 ? 8 : 4;
}

// Every byte of an argument table is a multiple of four. No service has more than 17 arguments
// (NtAccessCheckByTypeResultListAndAuditAlarmByHandle).
constexpr bool is_argument_bytes(u8 byte) {
  return byte % 4 == 0 && byte <= 17 * 4;
}

KernelStubs read_kernel_stubs(const TableSearch& search);

// Consecutive relocated words, and where they lead; nothing for those that leave the image.
struct RelocatedRun {
  pe::Rva start;
  std::vector<std::optional<pe::Rva>> targets;
};

// The runs of at least `least` adjacent relocated words of that form.
std::vector<RelocatedRun> find_relocated_runs(const TableSearch& search, TableForm form, u64 least);

}  // namespace coldtrace::syscall_map
