#include "coldtrace/pdb/section_contributions.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::pe {
namespace {

constexpr u32 version_60 = 0xf12e'ba2d;
constexpr u32 version_2 = 0xf13151e4;  // with the section of the object behind the rest
constexpr u64 size_field = 28;         // SectionContributionSize, in the DBI stream's header

auto place_of(const SectionContribution& one) {
  return std::tuple{one.section, one.offset, one.size, one.module};
}

SectionContribution read_contribution(core::ByteView bytes, u64 position) {
  constexpr core::Name name = "section contribution";
  core::Reader in{bytes.subspan(position), name, 0};
  SectionContribution one{};
  one.section = in.read_u16("Section");
  in.skip(2, "Padding");
  one.offset = in.read_u32("Offset");
  one.size = in.read_u32("Size");
  one.characteristics = in.read_u32("Characteristics");
  one.module = in.read_u16("ModuleIndex");
  return one;
}

}  // namespace

SectionContributions SectionContributions::read(const Pdb& pdb, core::Findings& findings) {
  SectionContributions read;
  if (!pdb.dbi()) return read;
  const auto& msf = pdb.msf();
  const auto head = msf.read(dbi_stream, size_field, sizeof(u32), "DBI stream header");
  const u64 size = head ? core::load<u32>(head->view(), 0).value_or(0) : 0;
  if (size == 0) return read;
  const u64 position = pdb.dbi()->modules.position + pdb.dbi()->modules.size;
  const auto bytes = msf.read(dbi_stream, position, size, "PDB section contributions");
  if (!bytes) {
    findings.warning("pdb-stream", bytes.error());
    return read;
  }
  const auto version = core::load<u32>(bytes->view(), 0);
  const u64 step = version == version_60 ? 28 : version == version_2 ? 32 : 0;
  const u64 count = step == 0 ? 0 : (size - sizeof(u32)) / step;
  if (step == 0 || sizeof(u32) + count * step != size)
    findings.warning("pdb-stream", msf.offset_of(dbi_stream, position),
                     "section contributions of version {:#x} and {} bytes, of which {} are read",
                     version.value_or(0), size, count);
  read.contributions_.reserve(count);
  for (u64 i = 0; i < count; ++i)
    read.contributions_.push_back(read_contribution(bytes->view(), sizeof(u32) + i * step));
  std::sort(read.contributions_.begin(), read.contributions_.end(),
            [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  return read;
}

std::optional<u16> SectionContributions::find_module(u16 section, u32 offset) const {
  const auto behind =
      std::upper_bound(contributions_.begin(), contributions_.end(), std::pair{section, offset},
                       [](const std::pair<u16, u32>& place, const SectionContribution& one) {
                         return place < std::pair{one.section, one.offset};
                       });
  if (behind == contributions_.begin()) return std::nullopt;
  const auto& one = *(behind - 1);
  if (one.section != section || offset - one.offset >= one.size) return std::nullopt;
  return one.module;
}

}  // namespace coldtrace::pe
