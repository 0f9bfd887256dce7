#include "coldtrace/pdb/section_contributions.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::pe {
namespace {

constexpr u32 version_60 = 0xf12e'ba2d;
constexpr u32 version_2 = 0xf13151e4;  // with the section of the object behind the rest

auto place_of(const SectionContribution& one) {
  return std::tuple{one.section, one.offset, one.size, one.module};
}

struct ContributionForm {
  u64 step;  // 0: of no known version
  u64 head;
};

// Before DBI 6.0 they have no version, and no checksums: SC40 of microsoft-pdb, dbicommon.h.
ContributionForm form_of(u32 version, u32 of_stream) {
  if (version == version_60) return {28, sizeof version};
  if (version == version_2) return {32, sizeof version};
  return of_stream < DbiHeader::version_60 ? ContributionForm{20, 0} : ContributionForm{0, 0};
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
  const auto [position, size] = pdb.dbi()->contributions;
  if (size == 0) return read;
  const auto bytes = msf.read(dbi_stream, position, size, "PDB section contributions");
  if (!bytes) {
    findings.warning("pdb-stream", bytes.error());
    return read;
  }
  const auto version = core::load<u32>(bytes->view(), 0).value_or(0);
  const auto [step, head] = form_of(version, pdb.dbi()->version);
  const u64 count = step == 0 || size < head ? 0 : (size - head) / step;
  if (step == 0 || head + count * step != size)
    findings.warning("pdb-stream", msf.offset_of(dbi_stream, position),
                     "section contributions of version {:#x} and {} bytes, of which {} are read",
                     version, size, count);
  read.contributions_.reserve(count);
  for (u64 i = 0; i < count; ++i)
    read.contributions_.push_back(read_contribution(bytes->view(), head + i * step));
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
