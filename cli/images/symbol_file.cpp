#include "cli/images/symbol_file.hpp"

#include <algorithm>

#include "cli/command/standard_input.hpp"
#include "cli/command/text_input.hpp"
#include "cli/images/isf_input.hpp"
#include "cli/images/other_kind.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/pdb/isf_file.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::cli {
namespace {

// What a packed PDB may unpack to: it lies in memory as a whole.
constexpr u64 largest_packed_pdb = u64{1} << 30;

std::string why_no_pdb(core::FileKind kind, const core::ParseError& error) {
  switch (kind) {
    case core::FileKind::pdb:
      return to_message(error);
    case core::FileKind::pdb_2:
      return "it is a PDB of version 2, which is not read; version 7 is";
    case core::FileKind::pdb_z:
      return "it is a compressed PDB (MSFZ), which is not read; one of version 7 (MSF 7.00) is";
    case core::FileKind::portable_pdb:
      return "it is a portable PDB (.NET), which has no public symbols";
    case core::FileKind::unknown:
      return "not a PDB: it does not start with the signature of MSF 7.00";
    default:
      return describe_other(kind, "a PDB");
  }
}

// What `convert` makes of the symbol table at a path where there is no PDB.
template <class Convert>
auto read_instead(const std::string& path, const pe::SymbolFile::Failure& failure, std::string& why,
                  Convert convert)
    -> std::optional<typename decltype(convert(std::declval<pe::IsfTable>()))::value_type> {
  const auto& [error, kind] = failure;
  if (!kind || !may_be_isf(*kind)) {
    why = kind ? why_no_pdb(*kind, error) : to_message(error);
    return std::nullopt;
  }
  const auto input = open_isf(path, *kind);
  if (!input) {
    why = input.error();
    return std::nullopt;
  }
  auto converted = convert(input->table);
  if (converted) return std::move(*converted);
  why = converted.error().view();
  return std::nullopt;
}

// What a file that is no PDB may unpack to, in bytes, where it is a packed one.
std::optional<u64> packed_pdb_limit(const std::string& path,
                                    const pe::SymbolFile::Failure& failure) {
  if (!failure.kind || !tracefile::is_unpackable(*failure.kind) || is_pipe(path))
    return std::nullopt;
  const auto is_pdb = [](core::ByteView, core::FileKind kind, std::string_view) {
    return kind == core::FileKind::pdb;
  };
  const auto file = core::FileImage::open(path);
  if (!file || !tracefile::holds_member(**file, *failure.kind, is_pdb)) return std::nullopt;
  return std::min(largest_packed_pdb, tracefile::default_unpacked_limit((*file)->size()));
}

// A PDB, plain or packed, or what `convert` makes of a symbol table.
template <class File, class Convert>
std::optional<File> open_either(const std::string& path, std::string& why, Convert convert) {
  auto file = File::open(readable_path(path));
  const auto limit = file ? std::nullopt : packed_pdb_limit(path, file.error());
  if (limit) {
    auto bytes = read_unpacked(path, *limit, "a PDB");
    if (!bytes) {
      why = bytes.error();
      return std::nullopt;
    }
    file = File::open(path, std::move(*bytes));
  }
  if (!file)
    return read_instead(path, file.error(), why,
                        [&](const pe::IsfTable& table) { return convert(path, table); });
  file->path = path;
  return std::move(*file);
}

}  // namespace

std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, std::string& why) {
  return open_either<pe::SymbolFile>(path, why, pe::to_symbol_file);
}

std::optional<pe::TypeFile> open_type_file(const std::string& path, std::string& why) {
  return open_either<pe::TypeFile>(path, why, pe::to_type_file);
}

std::optional<pe::PdbReference> identify_symbol_file(const std::string& path, std::string& why) {
  auto reference = pe::SymbolFile::identify(path);
  if (reference) return std::move(*reference);
  if (packed_pdb_limit(path, reference.error())) {
    const auto file = open_symbol_file(path, why);
    if (!file) return std::nullopt;
    return pe::PdbReference{{}, file->identity.guid, std::nullopt, file->identity.age};
  }
  const auto identity = read_instead(path, reference.error(), why, pe::identify_isf);
  if (!identity) return std::nullopt;
  return pe::PdbReference{{}, identity->guid, std::nullopt, identity->age};
}

std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, Report& report) {
  std::string why;
  auto file = open_symbol_file(path, why);
  if (!file) report.failed(path, why);
  return file;
}

std::optional<pe::TypeFile> open_type_file(const std::string& path, Report& report) {
  std::string why;
  auto file = open_type_file(path, why);
  if (!file) report.failed(path, why);
  return file;
}

std::vector<pe::SymbolFile> open_symbol_files(const std::vector<std::string>& paths,
                                              Report& report) {
  std::vector<pe::SymbolFile> files;
  for (const auto& path : paths)
    if (auto file = open_symbol_file(path, report)) {
      report.read(path, file->findings);
      files.push_back(std::move(*file));
    }
  return files;
}

}  // namespace coldtrace::cli
