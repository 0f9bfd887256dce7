#include "cli/images/symbol_file.hpp"

#include <algorithm>

#include "cli/command/standard_input.hpp"
#include "cli/command/text_input.hpp"
#include "cli/images/isf_input.hpp"
#include "cli/images/other_kind.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pdb/isf_file.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"
#include "coldtrace/tracefile/packing/unpack_one.hpp"

namespace coldtrace::cli {
namespace {

std::string why_no_pdb(core::FileKind kind, const core::ParseError& error) {
  switch (kind) {
    case core::FileKind::pdb:
    case core::FileKind::pdb_2:
      return to_message(error);
    case core::FileKind::pdb_z:
      return "it is a compressed PDB (MSFZ), which is not supported; MSF 7.00 is";
    case core::FileKind::portable_pdb:
      return "it is a portable PDB (.NET), which has no public symbols";
    case core::FileKind::unknown:
      return "not a PDB: it starts with neither the signature of MSF 7.00 nor that of PDB 2.00";
    default:
      return describe_other(kind, "a PDB");
  }
}

// What `convert` makes of the symbol table in a file that is not a PDB.
template <class Convert>
auto read_instead(const core::ImageSource& file, const pe::SymbolFile::Failure& failure,
                  std::string& why, Convert convert)
    -> std::optional<typename decltype(convert(std::declval<pe::IsfTable>()))::value_type> {
  const auto& [error, kind] = failure;
  if (!kind || !may_be_isf(*kind)) {
    why = kind ? why_no_pdb(*kind, error) : to_message(error);
    return std::nullopt;
  }
  const auto input = open_isf(file, *kind);
  if (!input) {
    why = input.error();
    return std::nullopt;
  }
  auto converted = convert(input->table);
  if (converted) return std::move(*converted);
  why = converted.error().view();
  return std::nullopt;
}

// The PDB in a packed file, or what `convert` makes of a symbol table.
template <class File, class Convert>
std::optional<File> open_instead(const std::string& path, const core::ImageSource& file,
                                 const pe::SymbolFile::Failure& failure, std::string& why,
                                 Convert convert) {
  const auto is_packed =
      failure.kind ? tracefile::holds_pdb(file, *failure.kind) : core::Result<bool>{false};
  if (!is_packed) {
    why = to_message(is_packed.error());
    return std::nullopt;
  }
  if (!*is_packed)
    return read_instead(file, failure, why,
                        [&](const pe::IsfTable& table) { return convert(path, table); });
  auto bytes = tracefile::unpack_pdb(file, *failure.kind);
  if (!bytes) {
    why = bytes.error();
    return std::nullopt;
  }
  auto unpacked = File::open(path, std::move(*bytes));
  if (unpacked) return std::move(*unpacked);
  why = to_message(unpacked.error().error);
  return std::nullopt;
}

// Of a pipe, which is read once.
template <class File, class Convert>
std::optional<File> open_piped(const std::string& path, std::string& why, Convert convert) {
  auto bytes = core::read_whole_file(readable_path(path), pe::largest_symbol_file);
  if (!bytes) {
    why = to_message(bytes.error());
    return std::nullopt;
  }
  const auto kind = core::recognize_bytes(*bytes);
  if (tracefile::is_unpackable(kind) || may_be_isf(kind))
    return open_instead<File>(
        path, core::MemoryImage{core::ByteView{*bytes}},
        pe::SymbolFile::Failure{{core::Fault::bad_magic, 0, "MSF", "magic", 0, 0}, kind}, why,
        convert);
  auto file = File::open(path, std::move(*bytes));
  if (file) return std::move(*file);
  why = why_no_pdb(kind, file.error().error);
  return std::nullopt;
}

// A PDB, plain or packed, or what `convert` makes of a symbol table.
template <class File, class Convert>
std::optional<File> open_either(const std::string& path, std::string& why, Convert convert) {
  const auto readable = readable_path(path);
  if (is_pipe(readable)) return open_piped<File>(path, why, convert);
  auto file = File::open(readable);
  if (file) {
    file->path = path;
    return std::move(*file);
  }
  const auto other = core::FileImage::open(readable);
  if (other) return open_instead<File>(path, **other, file.error(), why, convert);
  why = to_message(other.error());
  return std::nullopt;
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
  const auto& failure = reference.error();
  const auto file = core::FileImage::open(path);
  if (!file) {
    why = to_message(failure.error);
    return std::nullopt;
  }
  const auto is_packed =
      failure.kind ? tracefile::holds_pdb(**file, *failure.kind) : core::Result<bool>{false};
  if (!is_packed) {
    why = to_message(is_packed.error());
    return std::nullopt;
  }
  if (*is_packed) {
    const auto symbols = open_symbol_file(path, why);
    if (!symbols) return std::nullopt;
    return symbols->identity.reference();
  }
  const auto identity = read_instead(**file, failure, why, pe::identify_isf);
  if (!identity) return std::nullopt;
  return identity->reference();
}

std::optional<std::string> guid_text(const pe::PdbIdentity& identity) {
  return identity.guid ? std::optional{to_string(*identity.guid)} : std::nullopt;
}

std::string build_text(const pe::PdbIdentity& identity) {
  const auto guid = guid_text(identity);
  return guid ? fmt::format("guid {}, age {}", *guid, identity.age)
              : fmt::format("signature {:#010x}, age {}", identity.signature.value_or(0),
                            identity.age);
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
