#include "coldtrace/pe/module_dump.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/debug_directory.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 page_size = 0x1000;

std::string_view name_of(Layout layout) {
  return layout == Layout::file ? "file" : "memory";
}

bool same_sections(std::span<const SectionHeader> a, std::span<const SectionHeader> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.address == other.address && one.virtual_size == other.virtual_size &&
           one.characteristics == other.characteristics && one.raw_name == other.raw_name;
  });
}

// What makes two headers those of other builds; nothing where they are of one.
std::optional<std::string> find_other_build(const Image& file, const Image& dump) {
  const auto differ = [](std::string_view what, u64 dumped, u64 filed) {
    return fmt::format("{} is {:#x} in the dump, {:#x} in the file", what, dumped, filed);
  };
  if (file.machine() != dump.machine())
    return fmt::format("it is for {}, the file for {}", to_string(dump.machine()),
                       to_string(file.machine()));
  if (file.file_header().time_date_stamp != dump.file_header().time_date_stamp)
    return differ("TimeDateStamp", dump.file_header().time_date_stamp,
                  file.file_header().time_date_stamp);
  if (file.optional_header().size_of_image != dump.optional_header().size_of_image)
    return differ("SizeOfImage", dump.optional_header().size_of_image,
                  file.optional_header().size_of_image);
  core::Findings unused;
  const auto filed = find_pdb_reference(file, unused);
  const auto dumped = find_pdb_reference(dump, unused);
  if (filed && dumped && filed->guid && dumped->guid && !same_pdb(*filed, *dumped))
    return fmt::format("the PDB is {} age {} in the dump, {} age {} in the file",
                       to_string(*dumped->guid), dumped->age, to_string(*filed->guid), filed->age);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(BaseSource source) {
  switch (source) {
    case BaseSource::given:
      return "given";
    case BaseSource::relocations:
      return "relocations";
    case BaseSource::header:
      return "header";
    case BaseSource::preferred:
      return "preferred";
  }
  return "preferred";
}

core::Expected<ModuleDump, std::string> ModuleDump::open(core::Borrowed<ImageTables> file,
                                                         const core::FileView& dump,
                                                         const Options& options,
                                                         core::Findings& findings) {
  const auto& image = file.get().image();
  const core::UnreadableNote of_file{image.file(), findings};
  const core::UnreadableNote of_dump{dump, findings};
  ModuleDump module{image, dump};
  core::Findings unused;  // that the dump ends early is told by who compares
  module.as_file_ =
      AddressMap{dump.size(), Layout::file, image.optional_header(), image.sections(), unused};
  // The headers first: what is of another build has its name for that.
  if (auto why = module.check_headers(findings)) return core::fail(std::move(*why));
  if (auto why = module.choose_layout(options.layout)) return core::fail(std::move(*why));
  if (!module.proved_)
    findings.warning("dump-unproved", 0,
                     "the dump has no headers that identify its build; {} % of the examined bytes "
                     "match the file",
                     module.likeness_percent_);
  if (auto why = module.find_base(file, options.base, findings)) return core::fail(std::move(*why));
  return module;
}

core::ByteView ModuleDump::bytes(Rva rva, u64 limit) const {
  if (layout_ == Layout::file) return as_file_.bytes(dump_, rva, limit);
  const u64 size = file_->optional_header().size_of_image;
  if (value(rva) >= size) return {};
  return dump_.clip(value(rva), std::min<u64>(limit, size - value(rva)));
}

ModuleDump::PageBytes ModuleDump::page_bytes(Rva rva) const {
  const u64 start = value(rva) - value(rva) % page_size;
  const u64 end = std::min<u64>(start + page_size, file_->optional_header().size_of_image);
  bool any = false;
  bool cut = false;
  for (u64 at = start; at < end;) {
    const auto here = Rva{static_cast<u32>(at)};
    const auto dumped = bytes(here, end - at);
    if (!core::is_zero(dumped)) return PageBytes::some;
    if (dumped.empty()) {
      // In the layout of a file nothing lies between what is stored of two sections.
      cut = cut || layout_ == Layout::memory || !file_->bytes(here, 1).empty();
      if (layout_ == Layout::memory) break;
      ++at;
      continue;
    }
    any = true;
    at += dumped.size();
  }
  if (!any) return PageBytes::some;
  return cut ? PageBytes::cut_zeros : PageBytes::zeros;
}

core::ByteView ModuleDump::present(Rva rva, u64 limit) const {
  const auto wanted = bytes(rva, limit);
  for (u64 at = 0; at < wanted.size();) {
    const u64 address = u64{value(rva)} + at;
    const u64 next = std::min<u64>(wanted.size(), at + page_size - address % page_size);
    if (core::is_zero(wanted.subspan(at, next - at)) &&
        page_bytes(Rva{static_cast<u32>(address)}) != PageBytes::some)
      return wanted.first(at);
    at = next;
  }
  return wanted;
}

std::optional<u64> ModuleDump::pointer(Rva rva) const {
  const bool wide = file_->optional_header().pe32_plus;
  const auto stored = present(rva, wide ? 8 : 4);
  if (wide) return core::load<u64>(stored, 0);
  return core::load<u32>(stored, 0);
}

std::optional<Rva> ModuleDump::rva_of_address(u64 address) const {
  if (address < base_ || address - base_ >= file_->optional_header().size_of_image)
    return std::nullopt;
  return Rva{static_cast<u32>(address - base_)};
}

// How many bytes of what is never written are the same in both, of a sample that is spread over
// all sections. Pages without any byte in the dump were not there.
u64 ModuleDump::likeness(Layout layout, u64& looked_at) const {
  constexpr u64 most_pages = 512;
  u64 pages = 0;
  for (const auto& section : file_->sections())
    if ((section.characteristics & section_writable) == 0)
      pages += section.virtual_size / page_size + 1;
  const u64 step = (pages / most_pages + 1) * page_size;
  u64 same = 0;
  u64 looked = 0;
  for (const auto& section : file_->sections()) {
    if ((section.characteristics & section_writable) != 0) continue;
    for (u64 at = 0; at < section.virtual_size && looked < most_pages; at += step) {
      const auto rva = section.address + at;
      const auto filed = file_->bytes(rva, page_size);
      const auto dumped = layout == Layout::file ? as_file_.bytes(dump_, rva, filed.size())
                                                 : dump_.clip(value(rva), filed.size());
      if (core::is_zero(dumped)) continue;
      ++looked;
      for (std::size_t i = 0; i < dumped.size(); ++i) {
        if (filed[i] == std::byte{0} && dumped[i] == std::byte{0}) continue;
        ++looked_at;
        same += filed[i] == dumped[i] ? 1U : 0U;
      }
    }
  }
  return same;
}

std::optional<std::string> ModuleDump::choose_layout(const std::optional<Layout>& asked) {
  u64 of_memory = 0;
  u64 of_file = 0;
  const u64 in_memory = likeness(Layout::memory, of_memory);
  const u64 in_file = likeness(Layout::file, of_file);
  const auto percent = [](u64 part, u64 whole) { return whole == 0 ? 0 : part * 100 / whole; };
  const u64 memory_percent = percent(in_memory, of_memory);
  const u64 file_percent = percent(in_file, of_file);
  layout_ = asked.value_or(file_percent > memory_percent ? Layout::file : Layout::memory);
  likeness_percent_ = layout_ == Layout::file ? file_percent : memory_percent;
  const u64 looked_at = layout_ == Layout::file ? of_file : of_memory;
  if (looked_at == 0)
    return "none of the module is there: no page of code or constants has a byte other than 0";
  // Code that is packed or patched as a whole is no less alike than this.
  constexpr u64 least_percent = 50;
  if (likeness_percent_ >= least_percent) return std::nullopt;
  return fmt::format(
      "it is not the file as loaded: {} % of the examined bytes of code and constants match, in "
      "the layout of {}",
      likeness_percent_, name_of(layout_));
}

std::optional<std::string> ModuleDump::check_headers(core::Findings& findings) {
  const auto kind = core::recognize_file(dump_).value_or(core::FileKind::unknown);
  if (kind == core::FileKind::minidump || kind == core::FileKind::crash_dump_32 ||
      kind == core::FileKind::crash_dump_64)
    return fmt::format("it is {}, not a dump of one module: save the module's memory from it first",
                       to_string(kind));
  core::Findings unused;
  const auto dump = Image::open(dump_, std::nullopt, unused);
  if (!dump) return std::nullopt;
  const auto& header = dump->file_header();
  if (header.time_date_stamp == 0 && dump->optional_header().size_of_image == 0)
    return std::nullopt;
  if (auto why = find_other_build(*file_, *dump)) return "of another build: " + *why;
  proved_ = true;
  header_base_ = dump->optional_header().image_base;
  if (!same_sections(file_->sections(), dump->sections()))
    findings.warning("dump-headers", 0, "the section tables of file and dump differ");
  const u32 filed = file_->optional_header().checksum;
  const u32 dumped = dump->optional_header().checksum;
  if (filed != dumped)
    findings.warning("dump-headers", 0, "CheckSum is {:#x} in the dump, {:#x} in the file", dumped,
                     filed);
  return std::nullopt;
}

// The distance that most addresses which the loader adjusts have from those of the file, where it
// is that of half of them at least. Pages that are not there tell nothing.
std::optional<u64> ModuleDump::prove_base(const ImageTables& file) {
  const bool wide = file_->optional_header().pe32_plus;
  std::vector<u64> distances;
  Image::Window filed{*file_};
  for (const auto& [rva, type] : file.relocations().entries) {
    if (type != (wide ? RelocationType::dir64 : RelocationType::highlow)) continue;
    const auto here = filed.bytes(rva, 8);
    const auto dumped = bytes(rva, 8);
    const auto there =
        wide ? core::load<u64>(dumped, 0) : std::optional<u64>{core::load<u32>(dumped, 0)};
    const auto as_filed =
        wide ? core::load<u64>(here, 0) : std::optional<u64>{core::load<u32>(here, 0)};
    if (!there || !as_filed || *there == 0) continue;
    distances.push_back(wide ? *there - *as_filed : (*there - *as_filed) & 0xffff'ffff);
  }
  relocations_ = distances.size();
  std::sort(distances.begin(), distances.end());
  u64 best = 0;
  for (auto first = distances.begin(); first != distances.end();) {
    const auto last = std::upper_bound(first, distances.end(), *first);
    const auto count = static_cast<u64>(last - first);
    if (count > agreeing_) {
      agreeing_ = count;
      best = *first;
    }
    first = last;
  }
  if (agreeing_ == 0 || agreeing_ * 2 < relocations_) return std::nullopt;
  const u64 base = file_->optional_header().image_base + best;
  return wide ? base : base & 0xffff'ffff;
}

std::optional<std::string> ModuleDump::find_base(const ImageTables& file,
                                                 const std::optional<u64>& given,
                                                 core::Findings& findings) {
  const u64 preferred = file_->optional_header().image_base;
  const auto proved = prove_base(file);
  if (given && proved && *given != *proved)
    return fmt::format("the base is {:#x}, as {} of {} relocations prove; {:#x} was given", *proved,
                       agreeing_, relocations_, *given);
  if (given) {
    base_ = *given;
    base_source_ = BaseSource::given;
  } else if (proved) {
    base_ = *proved;
    base_source_ = BaseSource::relocations;
  } else {
    base_ = header_base_.value_or(preferred);
    base_source_ = header_base_ ? BaseSource::header : BaseSource::preferred;
  }
  // Programs' images begin at multiples of 64 KiB, the kernel's at pages.
  constexpr u16 native_subsystem = 1;
  constexpr u64 granularity = 0x10000;
  const u64 alignment =
      file_->optional_header().subsystem == native_subsystem ? page_size : granularity;
  if (base_source_ == BaseSource::header && base_ % alignment != 0)
    findings.warning("dump-base", 0,
                     "ImageBase in the dump's header is {:#x}, where no module can be loaded, and "
                     "no relocation shows the base",
                     base_);
  // The loaders of Windows XP and 2003 leave the preferred base there.
  if (header_base_ && *header_base_ != base_ && *header_base_ != preferred)
    findings.warning("dump-base", 0, "ImageBase in the dump's header is {:#x}, the module's {:#x}",
                     *header_base_, base_);
  return std::nullopt;
}

}  // namespace coldtrace::pe
