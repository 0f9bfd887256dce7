#include "coldtrace/schema_files/message_files.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pdb/pdb_annotations.hpp"
#include "coldtrace/pdb/pdb_enumerations.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/tracefile/packing/unpack_one.hpp"
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
// A driver has one provider, seldom a few; flags of each are the bits of a number.
constexpr std::size_t most_providers = 64;
constexpr std::size_t most_flags = 64;

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

// What annotations of WPP say.
struct Annotations {
  std::string lines;  // of all formats, with a NUL behind each
  std::vector<MessageFiles::Provider> providers;
};

// "TMC:", GUID, name and flags. Source: what WPP's templates give to __annotation.
void add_provider(std::span<const std::string_view> texts,
                  std::vector<MessageFiles::Provider>& providers, core::Findings& findings) {
  const auto guid = texts.size() < 3 ? std::nullopt : core::parse_guid(texts[1]);
  if (!guid) {
    findings.warning("schema-damaged", std::nullopt,
                     "an annotation that names a WPP provider has no GUID or no name");
    return;
  }
  const auto cut = [](std::string_view text) {
    return core::to_valid_utf8(text.substr(0, longest_name));
  };
  MessageFiles::Provider provider{*guid, cut(texts[2]), {}};
  for (const auto flag : texts.subspan(3, std::min(texts.size() - 3, most_flags)))
    provider.flags.push_back(cut(flag));
  if (providers.size() < most_providers &&
      std::find(providers.begin(), providers.end(), provider) == providers.end())
    providers.push_back(std::move(provider));
}

// An inlined function repeats its own.
Annotations read_annotations(const pe::Pdb& pdb, core::Findings& findings) {
  Annotations read;
  auto& lines = read.lines;
  bool is_full = false;
  pe::visit_annotations(pdb, findings, [&](const pe::Annotation& annotation) {
    const auto& texts = annotation.texts;
    if (texts.front() == "TMC:") add_provider(texts, read.providers, findings);
    if (texts.front() != "TMF:") return;
    for (const auto text : texts) {
      is_full = is_full || lines.size() + text.size() >= most_text;
      if (!is_full) lines.append(text).push_back('\0');
    }
  });
  if (is_full)
    findings.warning("schema-limit", std::nullopt,
                     "the annotations of the PDB have more than {} bytes", most_text);
  return read;
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

// Enumerations are not part of annotations, but types of the PDB. tracepdb writes them like this.
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

// Whether a PDB begins in it, by what is packed.
core::Result<bool> is_packed_pdb(const std::string& path) {
  const auto file = COLDTRACE_TRY(core::FileImage::open(path));
  const auto kind = COLDTRACE_TRY(core::recognize_file(*file));
  return tracefile::holds_pdb(*file, kind);
}

// What a file is by its content, as far as it says anything of messages.
enum class MessageFile { text, pdb, packed_pdb, other };

core::Result<MessageFile> recognize(const std::string& path, bool looks_inside) {
  const auto start = COLDTRACE_TRY(read_start(path, MessageFormats::likely_size));
  if (core::to_chars(start).starts_with(pdb_magic)) return MessageFile::pdb;
  if (MessageFormats::is_likely(start)) return MessageFile::text;
  const bool is_packed = looks_inside && COLDTRACE_TRY(is_packed_pdb(path));
  return is_packed ? MessageFile::packed_pdb : MessageFile::other;
}

core::Expected<std::vector<std::byte>, std::string> unpack_pdb(const std::string& path) {
  const auto file = core::FileImage::open(path);
  if (!file) return core::fail(reason_of(file.error()));
  const auto kind = core::recognize_file(**file);
  if (!kind) return core::fail(reason_of(kind.error()));
  return tracefile::unpack_pdb(**file, *kind);
}

core::Expected<pe::PdbReference, std::string> identify(const std::string& path, bool is_packed) {
  if (!is_packed) {
    auto reference = pe::SymbolFile::identify(path);
    if (!reference) return core::fail(core::to_string(reference.error().error));
    return std::move(*reference);
  }
  const auto bytes = unpack_pdb(path);
  if (!bytes) return core::fail(bytes.error());
  core::Findings told_later;
  const auto pdb = pe::Pdb::open(*bytes, told_later);
  if (!pdb) return core::fail(core::to_string(pdb.error()));
  return pe::PdbReference{{}, pdb->info().guid, std::nullopt, pdb->age()};
}

MessageFiles::File add_pdb(MessageFormats& formats, const std::string& path,
                           const pe::PdbReference& reference, bool is_packed,
                           core::Findings& findings) {
  core::Findings own;
  MessageFiles::File added{.path = path, .pdb = reference};
  const auto read = [&](const core::FileView& file) {
    if (const auto pdb = pe::Pdb::open(file, own)) {
      auto annotations = read_annotations(*pdb, own);
      append_enumerations(*pdb, annotations.lines, own);
      MessageFormats::FlagNames flags;
      for (const auto& provider : annotations.providers)
        flags.insert(provider.flags.begin(), provider.flags.end());
      added.formats = formats.add_annotations(annotations.lines, flags, path, own);
      added.providers = std::move(annotations.providers);
    } else {
      own.warning("schema-file", pdb.error());
    }
    core::note_unreadable(file, own);
  };
  if (is_packed) {
    if (const auto bytes = unpack_pdb(path))
      read(*bytes);
    else
      own.warning("schema-file", std::nullopt, "{}", bytes.error());
  } else if (const auto file = core::LazyFile::open(path, largest_pdb)) {
    read(**file);
  } else {
    own.warning("schema-file", file.error());
  }
  tell_of_file(path, own, findings);
  return added;
}

bool is_asked_for(const pe::PdbReference& pdb, const std::set<MessagePdb>& asked_for) {
  return std::any_of(asked_for.begin(), asked_for.end(), [&](const MessagePdb& other) {
    return pdb.names(other.guid, std::nullopt, other.age);
  });
}

}  // namespace

void MessageFiles::add(const std::string& path, Kinds kinds, core::Findings& findings) {
  const auto paths = list_files(path, findings);
  const bool is_file = paths.size() == 1 && paths.front() == path;
  for (const auto& one : paths) {
    const auto tell = [&](const std::string& why) {
      if (kinds == Kinds::all) findings.warning("schema-file", std::nullopt, "{}: {}", one, why);
    };
    const auto kind = recognize(one, is_file || kinds == Kinds::all);
    if (!kind && !is_file) {
      findings.warning("schema-file", std::nullopt, "{}: {}", one, reason_of(kind.error()));
    } else if (!kind) {
      tell(reason_of(kind.error()));
    } else if (*kind == MessageFile::pdb || *kind == MessageFile::packed_pdb) {
      const bool is_packed = *kind == MessageFile::packed_pdb;
      if (auto reference = identify(one, is_packed)) {
        pdbs_.push_back({one, std::move(*reference), is_packed});
        sources_.push_back(one);
      } else {
        tell(reference.error());
      }
    } else if (*kind == MessageFile::text && kinds == Kinds::all) {
      texts_.push_back(one);
      sources_.push_back(one);
    } else if (is_file) {
      tell("neither TMF text nor a PDB with formats of WPP messages");
    }
  }
}

MessageFiles::Contents MessageFiles::read(const std::set<tracefile::SchemaKey>& events,
                                          const std::set<MessagePdb>& asked_for,
                                          core::Findings& findings) const {
  Contents contents;
  auto formats = std::make_shared<MessageFormats>(events);
  const auto add = [&](File file) {
    if (file.formats > 0) contents.files.push_back(std::move(file));
  };
  for (const auto& path : texts_)
    add({.path = path, .pdb = std::nullopt, .formats = add_text(*formats, path, findings)});
  for (const bool wanted : {true, false})
    for (const auto& pdb : pdbs_)
      if (is_asked_for(pdb.reference, asked_for) == wanted && (wanted || !formats->has_all()))
        add(add_pdb(*formats, pdb.path, pdb.reference, pdb.is_packed, findings));
  for (const auto& key : events) {
    const auto format = key.message ? formats->find(key) : nullptr;
    if (!format) continue;
    for (auto& file : contents.files)
      if (file.path == format->source) file.messages.insert(key.provider);
  }
  contents.formats = std::move(formats);
  return contents;
}

void MessageFiles::report_unused(const Contents& read, core::Findings& findings) const {
  if (read.files.empty())
    findings.warning("schema-unused", std::nullopt,
                     "none of {} with formats of WPP messages has one that the trace needs",
                     core::counted(sources_.size(), "file", "files"));
}

}  // namespace coldtrace::schema_files
