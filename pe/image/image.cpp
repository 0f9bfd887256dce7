#include "coldtrace/pe/image.hpp"

#include <algorithm>
#include <numeric>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "pe/image/layout_evidence.hpp"

namespace coldtrace::pe {
namespace {

constexpr bool is_power_of_two(u32 value) {
  return value != 0 && (value & (value - 1)) == 0;
}

void check_alignments(const OptionalHeader& optional, u64 offset, core::Findings& findings) {
  if (!is_power_of_two(optional.section_alignment) || !is_power_of_two(optional.file_alignment))
    findings.warning("alignment", offset,
                     "SectionAlignment {:#x} and FileAlignment {:#x} are not powers of two",
                     optional.section_alignment, optional.file_alignment);
}

// The layout to read an image in: the one that is asked for, else what the bytes prove. Dumped
// images keep their section table, whose raw offsets then point at other bytes.
Layout choose_layout(const core::FileView& file, Machine machine, const OptionalHeader& optional,
                     std::span<const SectionHeader> sections, std::optional<Layout> asked,
                     core::Findings& findings) {
  if (asked == Layout::memory) {
    const auto evidence = find_layout_evidence(file, machine, optional, sections);
    if (evidence.file > evidence.memory)
      findings.warning("layout-suspect", std::nullopt,
                       "{}, {} at their RVAs: a file as linked? Try --layout file",
                       core::counted(evidence.file, "table lies at its file offset",
                                     "tables lie at their file offsets"),
                       evidence.memory);
    return Layout::memory;
  }
  if (!has_gap_of_zeros(file, optional, sections)) return Layout::file;
  const auto evidence = find_layout_evidence(file, machine, optional, sections);
  if (!asked && evidence.contradicts_itself())
    findings.warning(
        "layout-suspect", std::nullopt, "{}, {} at their file offsets: read as {}",
        core::counted(evidence.memory, "table lies at its RVA", "tables lie at their RVAs"),
        evidence.file,
        evidence.proves_memory() ? "dumped from memory; try --layout file"
                                 : "a file; try --layout memory");
  if (evidence.proves_memory() && !asked) {
    findings.info(
        "layout-memory", std::nullopt,
        "dumped from memory: {}, {} at file offsets; read in that layout",
        core::counted(evidence.memory, "table lies at its RVA", "tables lie at their RVAs"),
        evidence.file);
    return Layout::memory;
  }
  // Without a table on either side the size decides whether it is worth a word.
  if (evidence.proves_memory() || (evidence.file == 0 && file.size() >= optional.size_of_image))
    findings.warning("layout-suspect", std::nullopt,
                     "raw offsets point at zeros and RVAs at data: dumped from memory? "
                     "Try --layout memory");
  return Layout::file;
}

}  // namespace

core::Result<Image> Image::open(const core::FileView& file, std::optional<Layout> layout,
                                core::Findings& findings) {
  const core::UnreadableNote note{file, findings};
  Image image;
  image.view_ = file;
  image.dos_ = COLDTRACE_TRY(read_dos_header(file.clip(0, 64)));
  const u64 header = image.dos_.new_header_offset;
  constexpr u64 fixed_size = 24;  // the signature and the file header
  image.file_ = COLDTRACE_TRY(read_file_header(file.clip(0, header + fixed_size), header));
  const u64 optional = header + fixed_size;
  const u64 table = optional + image.file_.optional_header_size;
  // What has sections has their table; without any, where it would begin does not matter.
  if (image.file_.section_count > 0 && table > file.size())
    return core::fail({core::Fault::truncated, optional, "IMAGE_OPTIONAL_HEADER", "Magic",
                       image.file_.optional_header_size,
                       file.size() - std::min<u64>(optional, file.size())});
  const u64 table_end = table + u64{image.file_.section_count} * SectionHeader::size_on_disk;
  const auto bytes = file.clip(0, std::max(table_end, optional + OptionalHeader::largest_on_disk));
  image.optional_ = COLDTRACE_TRY(
      read_optional_header(bytes, optional, image.file_.optional_header_size, findings));
  check_alignments(image.optional_, optional, findings);

  for (u64 i = 0; i < image.file_.section_count; ++i) {
    const auto section = read_section_header(bytes, table + i * SectionHeader::size_on_disk);
    if (!section) {
      findings.warning("section-table", section.error());
      break;
    }
    image.sections_.push_back(*section);
  }
  image.by_address_.resize(image.sections_.size());
  std::iota(image.by_address_.begin(), image.by_address_.end(), std::size_t{0});
  std::stable_sort(image.by_address_.begin(), image.by_address_.end(),
                   [&](std::size_t a, std::size_t b) {
                     return image.sections_[a].address < image.sections_[b].address;
                   });
  image.layout_ =
      choose_layout(file, image.file_.machine, image.optional_, image.sections_, layout, findings);
  image.addresses_ =
      AddressMap{file.size(), image.layout_, image.optional_, image.sections_, findings};
  return image;
}

Image::SectionRange Image::find_range(Rva rva) const {
  const auto after = std::upper_bound(
      by_address_.begin(), by_address_.end(), rva,
      [this](Rva wanted, std::size_t index) { return wanted < sections_[index].address; });
  if (after == by_address_.begin()) return {};
  const auto& section = sections_[*std::prev(after)];
  const u64 size = std::max(section.virtual_size, section.raw_size);
  u64 end = u64{value(section.address)} + size;
  if (value(rva) >= end) return {};
  if (after != by_address_.end()) end = std::min<u64>(end, value(sections_[*after].address));
  return {&section, end};
}

const SectionHeader* Image::find_section(Rva rva) const {
  return find_range(rva).section;
}

bool Image::is_executable(Rva rva) const {
  const auto* section = find_section(rva);
  return section && section->executable();
}

u64 Image::offset_of(Directory index) const {
  if (const auto stored = addresses_.to_offset(directory(index).address)) return *stored;
  // Source: Microsoft, "PE Format", "Optional Header Data Directories".
  constexpr u64 signature_and_file_header = 24, entry_size = 8;
  const u64 entries = optional_.pe32_plus ? 112 : 96;
  return dos_.new_header_offset + signature_and_file_header + entries +
         static_cast<u64>(index) * entry_size;
}

std::optional<std::string_view> Image::read_text(Rva rva, std::size_t limit) const {
  // Most names are short, and a lazy file reads no more than is asked for.
  constexpr std::size_t usual = 255;
  if (limit > usual)
    if (const auto text = core::read_c_string(bytes(rva, usual + 1), usual)) return text;
  return core::read_c_string(bytes(rva, u64{limit} + 1), limit);
}

void Image::Window::move(Rva rva) {
  start_ = rva;
  bytes_ = {};
  const auto stored = image_.addresses().find_stored(rva);
  if (!stored) return;
  const auto [offset, bytes] =
      image_.file().piece(stored->offset + (value(rva) - value(stored->start)));
  if (bytes.empty()) return;
  const u64 before = stored->offset - std::min(stored->offset, offset);
  const u64 skipped = offset + before - stored->offset;
  start_ = stored->start + skipped;
  bytes_ = bytes.subspan(before, std::min(bytes.size() - before, stored->size - skipped));
}

std::optional<Rva> Image::rva_of_address(u64 address) const {
  if (address < optional_.image_base) return std::nullopt;
  const u64 distance = address - optional_.image_base;
  if (distance >= optional_.size_of_image) return std::nullopt;
  return Rva{static_cast<u32>(distance)};
}

}  // namespace coldtrace::pe
