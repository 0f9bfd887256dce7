#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/core/file.hpp"
#include "coldtrace/pdb/pdb_publics.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"

namespace coldtrace::test {

// One of the kernels of fixtures/asm/context-switch/switch_*.S, with what the linker says in the
// PDB.
struct SwitchKernel {
  std::vector<std::byte> bytes;
  std::map<std::string, u32> labels;  // without the underscore of x86
  std::vector<syscall_map::NamedPlace> symbols;

  pe::Image open(pe::Layout layout = pe::Layout::file) const {
    core::Findings findings;
    auto image = pe::Image::open(bytes, layout, findings);
    REQUIRE(image);
    return *image;
  }

  u32 at(const std::string& label) const {
    INFO(label);
    REQUIRE(labels.contains(label));
    return labels.at(label);
  }

  // Bytes between two labels.
  u32 between(const std::string& from, const std::string& to) const { return at(to) - at(from); }

  // As the loader lays it out, to be opened as Layout::memory.
  SwitchKernel loaded() const {
    const auto image = open();
    SwitchKernel copy = *this;
    copy.bytes.assign(image.optional_header().size_of_image, std::byte{0});
    const auto put = [&](u64 to, core::ByteView from) {
      std::copy(from.begin(), from.end(), copy.bytes.begin() + static_cast<std::ptrdiff_t>(to));
    };
    put(0, core::ByteView{bytes}.first(image.optional_header().size_of_headers));
    for (const auto& section : image.sections())
      put(value(section.address), image.bytes(section.address));
    return copy;
  }
};

// Nothing, with a warning, where the images could not be built.
inline std::optional<SwitchKernel> load_switch_kernel(const std::string& id) {
  const auto folder = std::string{COLDTRACE_TEST_IMAGES "/switch-"} + id;
  auto bytes = core::read_whole_file(folder + "/ntoskrnl.exe", 1 << 20);
  const auto file = core::read_whole_file(folder + "/ntoskrnl.pdb", 1 << 20);
  if (!bytes || !file) {
    WARN("skipped: no compiler built switch-" << id);
    return std::nullopt;
  }
  SwitchKernel kernel;
  kernel.bytes = std::move(*bytes);
  core::Findings findings;
  const auto pdb = pe::Pdb::open(*file, findings);
  REQUIRE(pdb);
  const auto sections = pe::PdbSections::read(*pdb, findings);
  const bool underscore = kernel.open().machine() == pe::Machine::i386;
  for (const auto& symbol : pe::read_public_symbols(*pdb, sections, findings).symbols) {
    if (!symbol.address) continue;
    std::string name{symbol.name};
    // Labels in the middle of functions are for tests alone.
    if (name.find("truth_") == name.npos) kernel.symbols.push_back({name, *symbol.address});
    if (underscore && name.starts_with('_')) name.erase(0, 1);
    kernel.labels.emplace(name, value(*symbol.address));
  }
  return kernel;
}

}  // namespace coldtrace::test
