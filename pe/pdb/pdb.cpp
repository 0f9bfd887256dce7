#include "coldtrace/pdb/pdb.hpp"

#include <algorithm>

#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 info_stream = 1;
constexpr u16 no_stream = 0xffff;

core::Result<PdbInfo> read_info(const Msf& msf) {
  constexpr u64 size_on_disk = 28;
  constexpr u64 size_of_version_2 = 12;
  constexpr u32 vc70 = 20'000'404;
  const u64 size = msf.is_version_2() ? size_of_version_2 : size_on_disk;
  const auto bytes = COLDTRACE_TRY(msf.read(info_stream, 0, size, "PDB info stream"));
  core::Reader in{bytes.view(), "PDB info stream", 0};
  PdbInfo info{};
  info.version = in.read_u32("Version");
  if (!msf.is_version_2() && info.version < vc70)
    in.reject(core::Fault::unsupported, 0, "Version", vc70, info.version);
  info.signature = in.read_u32("Signature");
  info.age = in.read_u32("Age");
  if (!msf.is_version_2()) info.guid = core::to_guid(in.take(core::Guid::size_on_disk, "Guid"));
  return msf.placed(in.finish(info), info_stream);
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
    return core::fail(msf.placed({core::Fault::truncated, 0, "DBI stream header",
                                  "OptionalDbgHeaderSize", position + size, stream_size},
                                 dbi_stream));
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

// The substreams, which follow the header in the order in which it has their sizes.
class Substreams {
 public:
  Substreams(core::Reader& in, u64 position) : in_{in}, position_{position} {}

  u64 size(core::Name field) {
    const auto at = in_.offset();
    const auto size = in_.read_i32(field);
    if (size >= 0) return static_cast<u64>(size);
    in_.reject(core::Fault::bad_value, at, field, core::not_one_number, static_cast<u32>(size));
    return 0;
  }
  DbiHeader::Substream next(core::Name field) {
    const DbiHeader::Substream found{position_, size(field)};
    position_ += found.size;
    return found;
  }
  [[nodiscard]] u64 position() const { return position_; }

 private:
  core::Reader& in_;
  u64 position_;
};

// That of Visual C++ 4, which has no signature.
core::Result<DbiHeader> read_dbi_41(core::ByteView bytes) {
  constexpr u64 size_on_disk = 24;
  core::Reader in{bytes, "DBI stream header", 0};
  DbiHeader header{};
  in.skip(2, "snGSSyms");
  header.publics = to_stream(in.read_u16("snPSSyms"));
  header.symbol_records = to_stream(in.read_u16("snSymRecs"));
  in.skip(2, "padding");
  Substreams substreams{in, size_on_disk};
  header.modules = substreams.next("cbGpModi");
  header.contributions = substreams.next("cbSC");
  return in.finish(header);
}

core::Result<DbiHeader> read_dbi(const Msf& msf, core::Findings& findings) {
  constexpr u64 size_on_disk = 64;
  constexpr u64 size_41 = 24;
  constexpr u32 signature = 0xffff'ffff;
  if (msf.is_version_2()) {
    const auto bytes = COLDTRACE_TRY(msf.read(dbi_stream, 0, size_41, "DBI stream header"));
    if (core::load<u32>(bytes.view(), 0) != signature)
      return msf.placed(read_dbi_41(bytes.view()), dbi_stream);
  }
  const auto bytes = COLDTRACE_TRY(msf.read(dbi_stream, 0, size_on_disk, "DBI stream header"));
  core::Reader in{bytes.view(), "DBI stream header", 0};
  DbiHeader header{};
  in.expect<u32>(signature, "VersionSignature", core::Fault::unsupported);
  header.version = in.read_u32("VersionHeader");
  header.age = in.read_u32("Age");
  in.skip(4, "GlobalStreamIndex and BuildNumber");
  header.publics = to_stream(in.read_u16("PublicStreamIndex"));
  in.skip(2, "PdbDllVersion");
  header.symbol_records = to_stream(in.read_u16("SymRecordStream"));
  in.skip(2, "PdbDllRbld");
  Substreams substreams{in, size_on_disk};
  header.modules = substreams.next("ModInfoSize");
  header.contributions = substreams.next("SectionContributionSize");
  substreams.next("SectionMapSize");
  substreams.next("SourceInfoSize");
  header.type_servers = substreams.next("TypeServerMapSize");
  in.skip(4, "MFCTypeServerIndex");
  const u64 debug_header_size = substreams.size("OptionalDbgHeaderSize");
  if (header.version < DbiHeader::version_60)
    in.skip(4, "reserved");
  else
    substreams.next("ECSubstreamSize");
  header.flags = in.read_u16("Flags");
  header.machine = in.read_u16("Machine");
  if (!in.ok()) return core::fail(msf.placed(in.error(), dbi_stream));
  const auto done = read_debug_header(msf, substreams.position(), debug_header_size, header);
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

bool Pdb::matches(const Image& image, core::Findings& findings) const {
  const auto reference = find_pdb_reference(image, findings);
  return reference && matches(*reference);
}

}  // namespace coldtrace::pe
