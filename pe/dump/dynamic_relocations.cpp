#include "pe/dump/dynamic_relocations.hpp"

#include "pe/directories/dynamic_relocation_table.hpp"

namespace coldtrace::pe {
namespace {

// IMAGE_DYNAMIC_RELOCATION_GUARD_..., of winnt.h. Symbols from the first address on are values.
constexpr u64 guard_import = 3;
constexpr u64 guard_indirect = 4;
constexpr u64 guard_switch = 5;
constexpr u64 first_value = 0x10000;

constexpr u32 page_offset = 0xfff;

struct Form {
  PatchRule rule;
  u32 entry_size;
  u32 site_size;  // bytes that are written at most
};

std::optional<Form> form_of(u64 symbol) {
  switch (symbol) {
    case guard_import:  // call [slot] and 5 bytes of NOP
      return Form{PatchRule::import_call, 4, 12};
    case guard_indirect:
      return Form{PatchRule::indirect_branch, 2, 12};
    case guard_switch:  // jmp rax and 3 bytes of padding
      return Form{PatchRule::switch_branch, 2, 5};
    default:
      if (symbol < first_value) return std::nullopt;
      return Form{PatchRule::dynamic_value, 2, 8};
  }
}

void add_blocks(core::ByteView blocks, const Form& form, std::vector<PatchSite>& sites) {
  constexpr u32 header_size = 8;
  for (u64 at = 0; at + header_size <= blocks.size();) {
    const u32 page = core::load<u32>(blocks, at).value_or(0);
    const u64 size = core::load<u32>(blocks, at + 4).value_or(0);
    if (size < header_size || size > blocks.size() - at) return;
    for (u64 entry = at + header_size; entry + form.entry_size <= at + size;
         entry += form.entry_size) {
      const u32 offset = core::load<u16>(blocks, entry).value_or(0) & page_offset;
      // The last entry of a block of 16-bit ones may be padding.
      const bool padding = form.entry_size == 2 && core::load<u16>(blocks, entry) == u16{0};
      if (!padding) sites.push_back({Rva{page} + offset, form.site_size, form.rule});
    }
    at += size;
  }
}

}  // namespace

void add_dynamic_relocations(const Image& image, const LoadConfig& config,
                             std::vector<PatchSite>& sites, core::Findings& findings) {
  const auto unread = [&](std::string_view why) {
    findings.info(
        "dynamic-relocations", std::nullopt,
        "dynamic relocations are not read, so what the system writes there counts as a change: {}",
        why);
  };
  const auto table = read_dynamic_relocations(image, config);
  for (const auto& [symbol, blocks] : table.relocations) {
    if (const auto form = form_of(symbol)) {
      add_blocks(blocks, *form, sites);
    } else {
      unread("some are of an unknown kind");
    }
  }
  if (!table.unread.empty()) unread(table.unread);
}

}  // namespace coldtrace::pe
