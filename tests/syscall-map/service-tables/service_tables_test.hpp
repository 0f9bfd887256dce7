#pragma once

#include <algorithm>

#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "tests/syscall-map/stubs/stub_image.hpp"

namespace coldtrace {

constexpr u64 services = 43;  // of services_nt.inc

struct Searched {
  core::Findings findings;
  std::optional<pe::Image> image;
  syscall_map::ServiceTables found;
};

inline Searched search(core::ByteView bytes) {
  Searched searched;
  auto image = pe::Image::open(bytes, pe::Layout::file, searched.findings);
  if (!image) return searched;
  searched.image = std::move(*image);
  searched.found = syscall_map::find_service_tables(*searched.image);
  return searched;
}

inline u64 entry_size(syscall_map::TableForm form) {
  return form == syscall_map::TableForm::va64 ? 8 : 4;
}

inline const syscall_map::LocatedServiceTable& only_table(const Searched& searched) {
  REQUIRE(searched.image);
  REQUIRE(searched.found.tables.size() == 1);
  return searched.found.tables.front();
}

inline void patch(std::vector<std::byte>& bytes, u64 at, core::ByteView content) {
  REQUIRE(at + content.size() <= bytes.size());
  std::copy(content.begin(), content.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

inline void patch_u32(std::vector<std::byte>& bytes, u64 at, u32 number) {
  patch(bytes, at, std::as_bytes(std::span{&number, 1}));
}

// The code and exports of a synthetic kernel, beside data of one's own.
inline fixtures::PeSpec kernel_with(const StubImage& kernel,
                                    std::vector<fixtures::PeSection> data) {
  const auto image = kernel.open();
  fixtures::PeSpec spec;
  spec.image_base = image.optional_header().image_base;
  const auto code = image.bytes(image.sections().front().address);
  spec.sections.front().content.assign(code.begin(), code.end());
  spec.sections.insert(spec.sections.end(), data.begin(), data.end());
  core::Findings findings;
  const auto directory = pe::read_export_directory(image, findings);
  REQUIRE((directory && *directory));
  spec.exports.emplace();
  for (const auto& entry : (*directory)->exports)
    // Where its data was, something else may be now.
    spec.exports->entries.push_back(
        {std::string{entry.name}, static_cast<u16>(entry.ordinal),
         image.is_executable(entry.address) ? value(entry.address) : 0x1000});
  return spec;
}

}  // namespace coldtrace
