#include "cli/images/isf_input.hpp"

#include <span>

#include <fmt/format.h>

#include "cli/command/text_input.hpp"
#include "cli/images/isf_reader.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

using core::FileKind;

bool is_packed_isf(FileKind kind) {
  return kind == FileKind::xz || kind == FileKind::gzip || kind == FileKind::bzip2 ||
         kind == FileKind::zstandard;
}

bool starts_like_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

core::Expected<std::string, std::string> read_text(const core::ImageSource& source) {
  if (source.size() > largest_isf)
    return core::fail(fmt::format("a symbol table of more than {} bytes is not read", largest_isf));
  std::vector<std::byte> bytes(source.size());
  if (const auto done = source.read_at(0, bytes); !done) return core::fail(to_string(done.error()));
  return std::string{core::to_chars(bytes)};
}

core::Expected<std::string, std::string> unpack(const core::ImageSource& source, FileKind kind) {
  const auto unpacked = unpack_single(source, kind, largest_isf, "a symbol table");
  if (!unpacked) return core::fail(unpacked.error());
  return read_text(**unpacked);
}

}  // namespace

bool may_be_isf(FileKind kind) {
  return kind == FileKind::json || kind == FileKind::coldtrace_json || is_packed_isf(kind);
}

core::Expected<IsfInput, std::string> open_isf(const core::ImageSource& file, FileKind kind) {
  auto text = is_packed_isf(kind) ? unpack(file, kind) : read_text(file);
  if (!text) return core::fail(text.error());
  if (is_packed_isf(kind) && !starts_like_json(*text))
    return core::fail(fmt::format("it is {}, and contains no JSON", to_string(kind)));
  if (text->find('\0') != text->npos) return core::fail(std::string{"it is JSON with a NUL in it"});
  IsfInput input;
  input.text = std::move(*text);
  auto table = read_isf(input.text);
  if (!table) return core::fail("it is " + table.error());
  input.table = std::move(*table);
  return input;
}

}  // namespace coldtrace::cli
