#include "coldtrace/pdb/pdb.hpp"

#include <algorithm>

#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 info_stream = 1;
constexpr u16 no_stream = 0xffff;

core::Result<PdbInfo> read_info(const Msf& msf) {
  constexpr u64 size_on_disk = 28;
  const auto bytes = COLDTRACE_TRY(msf.read(info_stream, 0, size_on_disk, "PDB info stream"));
  const auto at = msf.offset_of(info_stream, 0).value_or(0);
  core::Reader in{bytes.view(), "PDB info stream", at};
  PdbInfo info{};
  info.version = in.read_u32("Version");
  constexpr u32 vc70 = 20'000'404;
  if (info.version < vc70) in.reject(core::Fault::unsupported, at, "Version", vc70, info.version);
  info.signature = in.read_u32("Signature");
  info.age = in.read_u32("Age");
  info.guid = core::to_guid(in.take(core::Guid::size_on_disk, "Guid"));
  return in.finish(info);
}

std::optional<u32> to_stream(u16 index) {
  return index == no_stream ? std::nullopt : std::optional<u32>{index};
}

// The stream numbers behind all other substreams; fewer than are known means the rest is absent.
core::Result<core::Done> read_debug_header(const Msf& msf, u64 position, u64 size,
                                           DbiHeader& header) {
  constexpr u64 omap_from_source = 4;
  constexpr u64 section_headers = 5;
  constexpr u64 original_section_headers = 10;
  constexpr u64 known_size = 22;
  const u64 stream_size = msf.stream_size(dbi_stream).value_or(0);
  if (position > stream_size || size > stream_size - position)
    return core::fail({core::Fault::truncated, msf.offset_of(dbi_stream, 0).value_or(0),
                       "DBI stream header", "OptionalDbgHeaderSize", position + size, stream_size});
  const auto bytes = COLDTRACE_TRY(
      msf.read(dbi_stream, position, std::min(size, known_size), "DBI optional debug header"));
  const auto stream = [&](u64 index) {
    return to_stream(core::load<u16>(bytes.view(), index * 2).value_or(no_stream));
  };
  header.omap_from_source = stream(omap_from_source);
  header.section_headers = stream(section_headers);
  header.original_section_headers = stream(original_section_headers);
  return core::Done{};
}

core::Result<DbiHeader> read_dbi(const Msf& msf, core::Findings& findings) {
  constexpr u64 size_on_disk = 64;
  const auto bytes = COLDTRACE_TRY(msf.read(dbi_stream, 0, size_on_disk, "DBI stream header"));
  const auto at = msf.offset_of(dbi_stream, 0).value_or(0);
  core::Reader in{bytes.view(), "DBI stream header", at};
  DbiHeader header{};
  in.expect<u32>(0xffff'ffff, "VersionSignature", core::Fault::unsupported);
  header.version = in.read_u32("VersionHeader");
  header.age = in.read_u32("Age");
  in.skip(4, "GlobalStreamIndex and BuildNumber");
  header.publics = to_stream(in.read_u16("PublicStreamIndex"));
  in.skip(2, "PdbDllVersion");
  header.symbol_records = to_stream(in.read_u16("SymRecordStream"));
  in.skip(2, "PdbDllRbld");
  u64 position = size_on_disk;
  const auto add_substream = [&](core::Name field) {
    const auto field_at = in.offset();
    const auto size = in.read_i32(field);
    if (size < 0) {
      in.reject(core::Fault::bad_value, field_at, field, 0, static_cast<u32>(size));
      return u64{0};
    }
    return static_cast<u64>(size);
  };
  header.modules = {position, add_substream("ModInfoSize")};
  position += header.modules.size;
  position += add_substream("SectionContributionSize");
  position += add_substream("SectionMapSize");
  position += add_substream("SourceInfoSize");
  position += add_substream("TypeServerMapSize");
  in.skip(4, "MFCTypeServerIndex");
  const u64 debug_header_size = add_substream("OptionalDbgHeaderSize");
  position += add_substream("ECSubstreamSize");
  header.flags = in.read_u16("Flags");
  header.machine = in.read_u16("Machine");
  if (!in.ok()) return core::fail(in.error());
  const auto done = read_debug_header(msf, position, debug_header_size, header);
  if (!done) findings.warning("pdb-stream", done.error());
  return header;
}

}  // namespace

core::Result<Pdb> Pdb::open(const core::FileView& file, core::Findings& findings) {
  const core::UnreadableNote note{file, findings};
  auto msf = COLDTRACE_TRY(Msf::open(file, findings));
  const auto info = COLDTRACE_TRY(read_info(msf));
  Pdb pdb{std::move(msf), info};
  if (pdb.msf_.stream_size(dbi_stream).value_or(0) > 0) {
    const auto dbi = read_dbi(pdb.msf_, findings);
    if (dbi)
      pdb.dbi_ = *dbi;
    else
      findings.warning("pdb-stream", dbi.error());
  }
  return pdb;
}

bool Pdb::matches(const PdbReference& reference) const {
  return reference.names(info_.guid, age());
}

bool Pdb::matches(const Image& image, core::Findings& findings) const {
  const auto reference = find_pdb_reference(image, findings);
  return reference && matches(*reference);
}

}  // namespace coldtrace::pe
