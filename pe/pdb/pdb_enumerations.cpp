#include "coldtrace/pdb/pdb_enumerations.hpp"

#include <optional>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 type_stream = 2;
constexpr u16 kind_field_list = 0x1203;
constexpr u16 kind_continued = 0x1404;
constexpr u16 kind_enumerate = 0x1502;
constexpr u16 kind_enumeration = 0x1507;
constexpr u16 forward_declaration = 0x80;
constexpr unsigned most_lists = 256;  // that one enumeration goes on in

// The records of the type stream, from the kind on, by index.
struct TypeRecords {
  StreamBytes stream;
  u32 first_index = 0;
  std::vector<core::ByteView> records;
};

core::Result<TypeRecords> read_records(const Pdb& pdb) {
  TypeRecords types;
  types.stream = COLDTRACE_TRY(
      pdb.msf().read(type_stream, 0, pdb.msf().stream_size(type_stream).value_or(0), "TPI stream"));
  core::Reader head{types.stream.view(), "TPI stream header",
                    pdb.msf().offset_of(type_stream, 0).value_or(0)};
  head.skip(4, "Version");
  const auto header_size = head.read_u32("HeaderSize");
  types.first_index = head.read_u32("TypeIndexBegin");
  head.skip(4, "TypeIndexEnd");
  const auto size = head.read_u32("TypeRecordBytes");
  if (!head.ok()) return core::fail(head.error());
  const auto behind =
      types.stream.view().subspan(std::min<std::size_t>(header_size, types.stream.view().size()));
  core::Reader in{behind.first(std::min<std::size_t>(size, behind.size())), "type record", 0};
  while (in.ok() && in.remaining() >= 4) {
    const auto length = in.read_u16("length");
    types.records.push_back(in.take(length, "record"));
  }
  return types;
}

// A number of CodeView: below 0x8000 itself, else a leaf that says its type.
std::optional<u64> read_numeric(core::Reader& in) {
  const auto leaf = in.read_u16("numeric leaf");
  switch (leaf) {
    case 0x8000:
      return static_cast<u64>(i64{static_cast<i8>(in.read_u8("LF_CHAR"))});
    case 0x8001:
      return static_cast<u64>(i64{static_cast<i16>(in.read_u16("LF_SHORT"))});
    case 0x8002:
      return in.read_u16("LF_USHORT");
    case 0x8003:
      return static_cast<u64>(i64{in.read_i32("LF_LONG")});
    case 0x8004:
      return in.read_u32("LF_ULONG");
    case 0x8009:
      return static_cast<u64>(in.read_i64("LF_QUADWORD"));
    case 0x800a:
      return in.read_u64("LF_UQUADWORD");
    default:
      return leaf < 0x8000 ? std::optional{u64{leaf}} : std::nullopt;
  }
}

// Bytes 0xf1 to 0xff fill a list up to the next entry; their low digits count them.
void skip_padding(core::Reader& in, core::ByteView record) {
  constexpr unsigned first_padding = 0xf1;
  while (in.remaining() > 0 &&
         std::to_integer<unsigned>(record[record.size() - in.remaining()]) >= first_padding)
    in.skip(1, "padding");
}

// False where an entry cannot be read. `next` is where the list goes on, or 0.
bool read_values(core::ByteView record, PdbEnumeration& enumeration, u32& next) {
  core::Reader in{record, "field list", 0};
  if (in.read_u16("leaf") != kind_field_list) return false;
  for (skip_padding(in, record); in.ok() && in.remaining() > 0; skip_padding(in, record)) {
    const auto kind = in.read_u16("leaf");
    in.skip(2, "attributes");
    if (kind == kind_continued) {
      next = in.read_u32("index");
      return in.ok();
    }
    if (kind != kind_enumerate) return false;
    const auto number = read_numeric(in);
    const auto rest = record.last(in.remaining());
    const auto name = core::read_c_string(rest, rest.size());
    if (!in.ok() || !number || !name) return false;
    in.skip(name->size() + 1, "name");
    enumeration.values.push_back({*name, *number});
  }
  return in.ok();
}

struct Head {
  u16 properties;
  u32 fields;
  std::string_view name;
};

std::optional<Head> read_head(core::ByteView record) {
  core::Reader in{record, "LF_ENUM", 0};
  if (in.read_u16("leaf") != kind_enumeration) return std::nullopt;
  in.skip(2, "count");
  Head head{};
  head.properties = in.read_u16("property");
  in.skip(4, "utype");
  head.fields = in.read_u32("field");
  if (!in.ok()) return std::nullopt;
  const auto rest = record.last(in.remaining());
  const auto name = core::read_c_string(rest, rest.size());
  if (!name) return std::nullopt;
  head.name = *name;
  return head;
}

}  // namespace

void visit_enumerations(const Pdb& pdb, std::set<std::string, std::less<>> names,
                        core::Findings& findings,
                        const std::function<void(const PdbEnumeration&)>& take) {
  if (names.empty() || pdb.msf().stream_size(type_stream).value_or(0) == 0) return;
  const auto types = read_records(pdb);
  if (!types) {
    findings.warning("pdb-types", types.error());
    return;
  }
  for (const auto& record : types->records) {
    const auto head = read_head(record);
    if (!head || (head->properties & forward_declaration) != 0) continue;
    const auto wanted = names.find(head->name);
    if (wanted == names.end()) continue;
    PdbEnumeration enumeration{head->name, {}};
    u32 next = head->fields;
    for (unsigned i = 0; next >= types->first_index && i < most_lists; ++i) {
      const auto index = next - types->first_index;
      next = 0;
      if (index >= types->records.size() || !read_values(types->records[index], enumeration, next))
        findings.warning("pdb-types", std::nullopt, "the values of {} cannot all be read",
                         core::to_valid_utf8(head->name.substr(0, 256)));
    }
    take(enumeration);
    names.erase(wanted);
    if (names.empty()) return;
  }
}

}  // namespace coldtrace::pe
