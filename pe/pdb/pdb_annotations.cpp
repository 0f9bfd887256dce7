#include "coldtrace/pdb/pdb_annotations.hpp"

#include <set>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 dbi_stream = 3;
constexpr u64 dbi_header_size = 64;
constexpr u64 module_list_size_at = 24;
constexpr u16 no_stream = 0xffff;
constexpr u16 annotation = 0x1019;

// Where the symbols of a module are.
struct ModuleSymbols {
  u16 stream;
  u32 size;
};

core::Result<std::vector<ModuleSymbols>> read_modules(const Msf& msf) {
  const auto head =
      COLDTRACE_TRY(msf.read(dbi_stream, module_list_size_at, sizeof(u32), "DBI stream header"));
  const auto size = core::load<u32>(head.view(), 0).value_or(0);
  const auto list = COLDTRACE_TRY(msf.read(dbi_stream, dbi_header_size, size, "DBI modules"));
  core::Reader in{list.view(), "DBI module",
                  msf.offset_of(dbi_stream, dbi_header_size).value_or(0)};
  std::vector<ModuleSymbols> modules;
  while (in.remaining() > 0) {
    const auto start = in.remaining();
    in.skip(34, "section contribution and flags");
    ModuleSymbols module{};
    module.stream = in.read_u16("ModuleSymStream");
    module.size = in.read_u32("SymByteSize");
    in.skip(24, "sizes of lines, files and names");
    for (const auto name : {core::Name{"ModuleName"}, core::Name{"ObjFileName"}}) {
      const auto rest = list.view().last(in.remaining());
      const auto text = core::read_c_string(rest, rest.size());
      in.skip(text ? text->size() + 1 : rest.size() + 1, name);
    }
    if (!in.ok()) return core::fail(in.error());
    const auto used = start - in.remaining();
    in.skip(std::min<u64>((4 - used % 4) % 4, in.remaining()), "alignment");
    modules.push_back(module);
  }
  return modules;
}

void read_annotation(core::ByteView body, std::vector<std::string_view>& texts) {
  constexpr std::size_t fixed_part = 8;  // offset, section, count
  texts.clear();
  const auto count = core::load<u16>(body, 6).value_or(0);
  auto rest = body.subspan(std::min(body.size(), fixed_part));
  for (u16 i = 0; i < count; ++i) {
    const auto text = core::read_c_string(rest, rest.size());
    if (!text) return;
    texts.push_back(*text);
    rest = rest.subspan(text->size() + 1);
  }
}

// Records follow a signature of 4 bytes; their length does not count itself.
core::Result<core::Done> visit_module(
    const Msf& msf, const ModuleSymbols& module,
    const std::function<void(std::span<const std::string_view>)>& take) {
  constexpr u64 signature_size = 4;
  if (module.size <= signature_size) return core::Done{};
  const auto bytes = COLDTRACE_TRY(msf.read(module.stream, 0, module.size, "module symbols"));
  core::Reader in{bytes.view(), "module symbol", msf.offset_of(module.stream, 0).value_or(0)};
  in.skip(signature_size, "Signature");
  std::vector<std::string_view> texts;
  while (in.ok() && in.remaining() >= 4) {
    const auto at = in.offset();
    const auto length = in.read_u16("reclen");
    if (length < 2) {
      in.reject(core::Fault::bad_value, at, "reclen", 2, length);
      break;
    }
    const auto kind = in.read_u16("rectyp");
    const auto body = in.take(length - 2U, "record");
    if (!in.ok() || kind != annotation) continue;
    read_annotation(body, texts);
    if (!texts.empty()) take(texts);
  }
  if (!in.ok()) return core::fail(in.error());
  return core::Done{};
}

}  // namespace

void visit_annotations(const Pdb& pdb, core::Findings& findings,
                       const std::function<void(std::span<const std::string_view>)>& take) {
  if (!pdb.dbi()) return;
  const auto modules = read_modules(pdb.msf());
  if (!modules) {
    findings.warning("pdb-stream", modules.error());
    return;
  }
  std::set<u16> seen;  // a sound module has a stream of its own
  for (const auto& module : *modules) {
    if (module.stream == no_stream || !seen.insert(module.stream).second) continue;
    const auto done = visit_module(pdb.msf(), module, take);
    if (!done) findings.warning("pdb-stream", done.error());
  }
}

}  // namespace coldtrace::pe
