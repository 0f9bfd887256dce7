#include "coldtrace/pdb/id_table.hpp"

#include <algorithm>

#include "coldtrace/pdb/type_records.hpp"
#include "pe/types/leaf_reader.hpp"
#include "pe/types/record_stream.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 id_stream = 4;
constexpr u16 lf_func_id = 0x1601;
constexpr u16 lf_mfunc_id = 0x1602;
constexpr u16 lf_buildinfo = 0x1603;
constexpr u16 lf_substr_list = 0x1604;
constexpr u16 lf_string_id = 0x1605;
constexpr u16 lf_udt_src_line = 0x1606;
constexpr u16 lf_udt_mod_src_line = 0x1607;

}  // namespace

IdTable IdTable::read(const Pdb& pdb, core::Findings& findings) {
  IdTable table;
  if (pdb.msf().is_version_2()) return table;  // a stream of another kind has the number
  if (pdb.msf().stream_size(id_stream).value_or(0) == 0) return table;
  auto stream = RecordStream::read(pdb.msf(), id_stream, "IPI stream");
  if (!stream) {
    findings.warning("pdb-types", stream.error());
    return table;
  }
  table.stream_ = std::move(stream->bytes);
  table.first_index_ = stream->first_index;
  for (u64 position = 0; position < stream->records.size();) {
    const auto record = pe::find_record(stream->records, position);
    if (!record) {
      findings.warning("pdb-types", pdb.msf().offset_of(id_stream, stream->position + position),
                       "record {} of the IPI stream cannot be read; those after it are lost",
                       table.records_.size());
      break;
    }
    table.records_.push_back(*record);
    table.add_source(*record);
    position += sizeof(u16) + record->size();
  }
  std::stable_sort(table.sources_.begin(), table.sources_.end(),
                   [](const Source& a, const Source& b) { return a.type < b.type; });
  const bool needs_strings = std::any_of(table.sources_.begin(), table.sources_.end(),
                                         [](const Source& source) { return source.in_table; });
  if (needs_strings) table.strings_ = StringTable::read(pdb, findings);
  return table;
}

void IdTable::add_source(core::ByteView record) {
  const auto kind = kind_of(record);
  if (kind != lf_udt_src_line && kind != lf_udt_mod_src_line) return;
  core::Reader in{record, "LF_UDT_SRC_LINE", 0};
  in.skip(2, "kind");
  Source source{};
  source.type = in.read_u32("type");
  source.file = in.read_u32("src");
  source.line = in.read_u32("line");
  source.in_table = kind == lf_udt_mod_src_line;
  if (in.ok()) sources_.push_back(source);
}

const core::ByteView* IdTable::find_record(u32 index) const {
  if (index < first_index_ || index - first_index_ >= records_.size()) return nullptr;
  return &records_[index - first_index_];
}

std::optional<std::string> IdTable::find_text(u32 index) const {
  std::string text;
  u32 steps = 4096;  // of lists of lists
  if (!append_text(index, 0, steps, text)) return std::nullopt;
  if (text.size() > longest_text) text.resize(longest_text);
  return text;
}

bool IdTable::append_text(u32 index, u32 level, u32& steps, std::string& text) const {
  constexpr u32 most_levels = 8;
  const auto* const record = find_record(index);
  if (!record || kind_of(*record) != lf_string_id || level == most_levels || steps == 0)
    return false;
  --steps;
  core::Reader in{*record, "LF_STRING_ID", 0};
  in.skip(2, "kind");
  const auto list = in.read_u32("id");
  const auto name = read_name(in, *record, lf_string_id);
  if (!in.ok()) return false;
  const auto* const parts = find_record(list);
  if (parts && kind_of(*parts) == lf_substr_list) {
    const u64 stored = parts->size() / sizeof(u32);
    const u64 count = std::min<u64>(core::load<u32>(*parts, 2).value_or(0), stored);
    for (u64 i = 0; i < count && text.size() <= longest_text; ++i)
      append_text(core::load<u32>(*parts, 6 + i * sizeof(u32)).value_or(0), level + 1, steps, text);
  }
  text += name.substr(0, longest_text);
  return true;
}

std::optional<FunctionId> IdTable::find_function(u32 index) const {
  const auto* const record = find_record(index);
  if (!record) return std::nullopt;
  const auto kind = kind_of(*record);
  if (kind != lf_func_id && kind != lf_mfunc_id) return std::nullopt;
  core::Reader in{*record, "LF_FUNC_ID", 0};
  in.skip(2, "kind");
  FunctionId found{};
  const auto parent = in.read_u32("scopeId or parentType");
  if (parent != 0) (kind == lf_func_id ? found.scope : found.class_) = parent;
  found.type = in.read_u32("type");
  found.name = read_name(in, *record, kind);
  if (!in.ok()) return std::nullopt;
  return found;
}

std::optional<BuildInfo> IdTable::find_build(u32 index) const {
  const auto* const record = find_record(index);
  if (!record || kind_of(*record) != lf_buildinfo) return std::nullopt;
  const auto count = core::load<u16>(*record, 2).value_or(0);
  const auto text = [&](u16 number) -> std::optional<std::string> {
    const auto id = core::load<u32>(*record, 4 + number * sizeof(u32));
    if (number >= count || !id) return std::nullopt;
    auto found = find_text(*id);
    return found && !found->empty() ? std::move(found) : std::nullopt;
  };
  return BuildInfo{text(0), text(1), text(2), text(3), text(4)};
}

std::optional<TypeSource> IdTable::find_source(u32 type) const {
  const auto found =
      std::lower_bound(sources_.begin(), sources_.end(), type,
                       [](const Source& source, u32 wanted) { return source.type < wanted; });
  if (found == sources_.end() || found->type != type) return std::nullopt;
  if (!found->in_table) {
    auto file = find_text(found->file);
    return file ? std::optional{TypeSource{std::move(*file), found->line}} : std::nullopt;
  }
  const auto file = strings_.find(found->file);
  return file ? std::optional{TypeSource{std::string{file->substr(0, longest_text)}, found->line}}
              : std::nullopt;
}

}  // namespace coldtrace::pe
