#include "coldtrace/schema_files/message_files.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_annotations.hpp"
#include "coldtrace/pdb/pdb_enumerations.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "schema-files/declaring_file.hpp"
#include "schema-files/file_walk.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::MessageFormats;
using tracefile::MessagePdb;

constexpr std::string_view pdb_magic = "Microsoft C/C++ MSF 7.00\r\n";
constexpr std::size_t longest_name = 512;  // of an enumeration
constexpr u64 largest_pdb = u64{4} << 30;
// Of the annotations of one PDB, in bytes.
constexpr std::size_t most_text = std::size_t{256} << 20;

u64 add_text(MessageFormats& formats, const std::string& path, core::Findings& findings) {
  const auto bytes = core::read_whole_file(path, MessageFormats::largest);
  if (!bytes) {
    findings.warning("schema-file", std::nullopt, "{}: {}", path, bytes.error());
    return 0;
  }
  core::Findings own;
  const auto added = formats.add(*bytes, path, own);
  tell_of_file(path, own, findings);
  return added;
}

// The lines of all records of WPP, with a NUL behind each. An inlined function repeats its own.
std::string read_annotations(const pe::Pdb& pdb, core::Findings& findings) {
  std::string lines;
  bool is_full = false;
  pe::visit_annotations(pdb, findings, [&](std::span<const std::string_view> texts) {
    if (texts.front() != "TMF:") return;
    for (const auto text : texts) {
      is_full = is_full || lines.size() + text.size() >= most_text;
      if (!is_full) lines.append(text).push_back('\0');
    }
  });
  if (is_full)
    findings.warning("schema-limit", std::nullopt,
                     "the annotations of the PDB have more than {} bytes", most_text);
  return lines;
}

// The names in "ItemEnum(name)" and "ItemFlagsEnum(name)".
std::set<std::string, std::less<>> find_enumerations(std::string_view lines) {
  std::set<std::string, std::less<>> names;
  constexpr std::string_view start = "Enum(";
  for (auto at = lines.find(start); at != std::string_view::npos; at = lines.find(start, at + 1)) {
    const auto name = lines.substr(at + start.size(), longest_name);
    names.emplace(name.substr(0, name.find_first_of(std::string_view{")\0", 2})));
  }
  return names;
}

// Enumerations are no part of annotations, but types of the PDB. tracepdb writes them like this.
void append_enumerations(const pe::Pdb& pdb, std::string& lines, core::Findings& findings) {
  pe::visit_enumerations(
      pdb, find_enumerations(lines), findings, [&](const pe::PdbEnumeration& enumeration) {
        lines.append("#enumv ").append(enumeration.name).push_back('\0');
        lines.append("{").push_back('\0');
        for (const auto& value : enumeration.values)
          lines.append(fmt::format("{},{:#x}", value.name, value.number)).push_back('\0');
        lines.append("}").push_back('\0');
      });
}

u64 add_pdb(MessageFormats& formats, const std::string& path, core::Findings& findings) {
  core::Findings own;
  u64 added = 0;
  const auto file = core::LazyFile::open(path, largest_pdb);
  if (file) {
    if (const auto pdb = pe::Pdb::open(**file, own)) {
      auto lines = read_annotations(*pdb, own);
      append_enumerations(*pdb, lines, own);
      added = formats.add_annotations(lines, path, own);
    } else {
      own.warning("schema-file", pdb.error());
    }
    if ((*file)->error()) own.warning("unreadable-range", *(*file)->error());
  } else {
    own.warning("schema-file", file.error());
  }
  tell_of_file(path, own, findings);
  return added;
}

bool is_asked_for(const pe::PdbReference& pdb, const std::set<MessagePdb>& asked_for) {
  return std::any_of(asked_for.begin(), asked_for.end(), [&](const MessagePdb& other) {
    return pdb.guid && *pdb.guid == other.guid && pdb.age == other.age;
  });
}

}  // namespace

void MessageFiles::add(const std::string& path, Kinds kinds, core::Findings& findings) {
  const auto paths = list_files(path, findings);
  const bool is_file = paths.size() == 1 && paths.front() == path;
  for (const auto& one : paths) {
    const auto start = read_start(one, MessageFormats::likely_size);
    const bool is_pdb = start && core::to_chars(*start).starts_with(pdb_magic);
    const bool is_text = start && !is_pdb && MessageFormats::is_likely(*start);
    if (is_pdb) {
      if (auto reference = pe::SymbolFile::identify(one)) {
        pdbs_.push_back({one, std::move(*reference)});
        sources_.push_back(one);
      } else if (kinds == Kinds::all) {
        findings.warning("schema-file", std::nullopt, "{}: {}", one, reference.error().error);
      }
    } else if (is_text && kinds == Kinds::all) {
      texts_.push_back(one);
      sources_.push_back(one);
    } else if (is_file && kinds == Kinds::all && !start) {
      findings.warning("schema-file", std::nullopt, "{}: {}", one, reason_of(start.error()));
    } else if (is_file && kinds == Kinds::all) {
      findings.warning("schema-file", std::nullopt,
                       "{}: neither a TMF text nor a PDB with the formats of WPP messages", one);
    }
  }
}

MessageFiles::Contents MessageFiles::read(const std::set<tracefile::SchemaKey>& events,
                                          const std::set<MessagePdb>& asked_for,
                                          core::Findings& findings) const {
  Contents contents;
  auto formats = std::make_shared<MessageFormats>(events);
  const auto add = [&](const std::string& path, std::optional<pe::PdbReference> pdb, u64 added) {
    if (added > 0) contents.files.push_back({path, std::move(pdb), added});
  };
  for (const auto& path : texts_) add(path, std::nullopt, add_text(*formats, path, findings));
  for (const bool wanted : {true, false})
    for (const auto& pdb : pdbs_)
      if (is_asked_for(pdb.reference, asked_for) == wanted && (wanted || !formats->has_all()))
        add(pdb.path, pdb.reference, add_pdb(*formats, pdb.path, findings));
  contents.formats = std::move(formats);
  return contents;
}

}  // namespace coldtrace::schema_files
