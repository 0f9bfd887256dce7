#include "coldtrace/pdb/module_compilers.hpp"

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 s_compile2 = 0x1116;
constexpr u16 s_compile2_st = 0x1013;
constexpr u16 s_compile3 = 0x113c;
constexpr u16 s_buildinfo = 0x114c;
constexpr std::size_t longest_version = 1024;

void read_version(core::Reader& in, std::size_t numbers, std::array<u16, 4>& version) {
  for (std::size_t i = 0; i < numbers; ++i) version[i] = in.read_u16("version");
}

bool read_compiler(core::ByteView record, ModuleCompiler& compiler) {
  core::Reader in{record, "COMPILESYM3", 0};
  const auto kind = in.read_u16("rectyp");
  const auto flags = in.read_u32("flags");
  in.skip(2, "machine");
  const std::size_t numbers = kind == s_compile3 ? 4 : 3;  // the old one has no QFE
  ModuleCompiler read = compiler;
  read.language = static_cast<u8>(flags);
  read_version(in, numbers, read.front_end);
  read_version(in, numbers, read.back_end);
  const auto text = kind == s_compile2_st
                        ? core::to_chars(in.take(in.read_u8("length"), "verSt"))
                        : core::read_c_string(record.subspan(in.consumed()), record.size());
  if (!in.ok() || !text) return false;
  read.version = text->substr(0, longest_version);
  read.named = true;
  compiler = std::move(read);
  return true;
}

}  // namespace

std::string_view language_name(u8 language) {
  switch (language) {
    case 0x00:
      return "c";
    case 0x01:
      return "c++";
    case 0x02:
      return "fortran";
    case 0x03:
      return "masm";
    case 0x04:
      return "pascal";
    case 0x05:
      return "basic";
    case 0x06:
      return "cobol";
    case 0x07:
      return "link";
    case 0x08:
      return "cvtres";
    case 0x09:
      return "cvtpgd";
    case 0x0a:
      return "c#";
    case 0x0b:
      return "visual basic";
    case 0x0c:
      return "il assembler";
    case 0x0d:
      return "java";
    case 0x0e:
      return "jscript";
    case 0x0f:
      return "msil";
    case 0x10:
      return "hlsl";
    case 0x15:
      return "rust";
    case 0x44:
      return "d";
    case 0x53:
      return "swift";
    default:
      return "unknown";
  }
}

std::map<std::size_t, ModuleCompiler> read_module_compilers(const Pdb& pdb,
                                                            core::Findings& findings) {
  std::map<std::size_t, ModuleCompiler> compilers;
  ModuleSymbols symbols{pdb, findings};
  while (symbols.next_module())
    for (core::ByteView record; symbols.next(record);) {
      const auto kind = core::load<u16>(record, 0).value_or(0);
      if (kind == s_buildinfo) {
        if (const auto id = core::load<u32>(record, 2))
          compilers[symbols.number()].build_record = *id;
      } else if (kind == s_compile2 || kind == s_compile2_st || kind == s_compile3) {
        if (!read_compiler(record, compilers[symbols.number()]))
          symbols.reject("a record of a module's compiler ends before its text does");
      }
    }
  return compilers;
}

}  // namespace coldtrace::pe
