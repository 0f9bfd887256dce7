#include "coldtrace/tracefile/names/name_records.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "tracefile/providers/kernel_events.hpp"
#include "tracefile/providers/kernel_group.hpp"

namespace coldtrace::tracefile {
namespace {

using About = NameRecord::Subject;
using Verb = NameRecord::Verb;

constexpr u8 process_group = 0x03;
constexpr u8 file_group = 0x04;
constexpr u8 thread_group = 0x05;
constexpr u8 registry_group = 0x09;
constexpr u8 performance_group = 0x0f;
constexpr u8 image_group = 0x14;
constexpr u8 stack_group = 0x18;

constexpr u8 image_load = 10;

// The class ImageID, of which opcode 0 has the headers' stamp, 34 DBG's record, 36 that of RSDS, 37
// that of the IL of a precompiled image, and 38 the version of each entry of the debug directory
// that names a PDB: 0x504d0100 for a portable one.
constexpr auto image_id = *core::parse_guid("b3e675d7-2554-4f18-830b-2762732560de");
constexpr u8 image_id_info = 0;
constexpr u8 image_id_dbg = 34;
constexpr u8 image_id_rsds = 36;
constexpr u8 image_id_il_rsds = 37;
constexpr u8 image_id_portable = 38;
constexpr u32 portable_version = 0x504d'0100;
constexpr std::size_t longest_text = 32'767;

// Of a process that ended and is still held: its name and number were its own all along.
constexpr u8 process_defunct = 39;

// Opcodes 1 to 4 of processes, threads and, from 2, images.
Verb life_verb(u8 opcode) {
  switch (opcode) {
    case 2:
      return Verb::ends;
    case 3:
      return Verb::exists_before;
    case 4:
    case process_defunct:
      return Verb::exists_after;
    default:
      return Verb::begins;
  }
}

// Takes a few fields of a kernel event by their names.
class FieldPicker final : public FieldVisitor {
 public:
  struct Pick {
    std::string_view name;
    u64* number = nullptr;
    std::string* text = nullptr;
    core::Guid* guid = nullptr;
  };
  explicit FieldPicker(std::vector<Pick> picks) : picks_{std::move(picks)} {}

  void value(const FieldSchema& field, const Value& value) override {
    for (const auto& pick : picks_) {
      if (pick.name != field.name) continue;
      if (pick.number != nullptr) *pick.number = value.number;
      if (pick.guid != nullptr && value.bytes.size() == core::Guid::size_on_disk)
        *pick.guid = core::to_guid(value.bytes);
      if (pick.text == nullptr) continue;
      *pick.text = value.in == InType::utf16 ? core::decode_exact(value.bytes)
                                             : core::to_valid_utf8(core::to_chars(value.bytes));
    }
  }
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}

 private:
  std::vector<Pick> picks_;
};

// False when there is no layout for the event or the payload is cut.
bool pick_fields(const EventSchema* schema, const Event& event,
                 std::vector<FieldPicker::Pick> picks) {
  if (schema == nullptr) return false;
  FieldPicker picker{std::move(picks)};
  const auto result = decode_fields(*schema, event.payload, event.pointer_size, picker);
  return result.decoded == Decoded::exact || result.decoded == Decoded::trailing;
}

}  // namespace

const EventSchema* NameRecords::schema_of(const Event& event) {
  const auto [place, added] =
      schemas_.try_emplace(std::tuple{event.provider, event.opcode, event.version}, nullptr);
  if (added) {
    if (const auto known = find_kernel_event(event)) place->second = known->schema;
  }
  return place->second.get();
}

void NameRecords::push(NameRecord record, std::string_view text) {
  record.text = static_cast<u32>(texts_.size());
  const auto kept = core::cut_exact(text, longest_text);
  record.count = static_cast<u32>(kept.size());
  texts_.append(kept);
  records_.push_back(record);
}

void NameRecords::add(const Event& event) {
  if (event.event_class != EventClass::classic) {
    if (auto record = read_managed_record(event)) managed_.push_back(std::move(*record));
    return;
  }
  const auto group = event.kernel_group ? event.kernel_group : find_kernel_group(event.provider);
  switch (group.value_or(0)) {
    case process_group:
      if (event.opcode == image_load) return add_image(event);
      if ((event.opcode >= 1 && event.opcode <= 4) || event.opcode == process_defunct)
        add_process(event);
      return;
    case thread_group:
      if ((event.opcode >= 1 && event.opcode <= 4) || event.opcode == 72) add_thread(event);
      return;
    case image_group:
      if ((event.opcode >= 2 && event.opcode <= 4) || event.opcode == image_load) add_image(event);
      return;
    case file_group:
      if (event.opcode == 0 || event.opcode == 32 || event.opcode == 35 || event.opcode == 36 ||
          event.opcode == 64)
        add_file(event);
      return;
    case registry_group:
      if (event.opcode >= 22 && event.opcode <= 25) add_registry_key(event);
      return;
    case stack_group:
      if (event.opcode >= 34 && event.opcode <= 36) add_stack(event);
      return;
    case performance_group:
      // From 75 on they are of spin locks.
      if (event.opcode >= 72 && event.opcode <= 74) add_sampling_interval(event);
      return;
    default:
      if (event.provider == image_id) add_image_file(event);
      return;
  }
}

void NameRecords::add_process(const Event& event) {
  u64 pid = 0;
  std::string name;
  if (!pick_fields(schema_of(event), event,
                   {{"ProcessId", &pid, nullptr}, {"ImageFileName", nullptr, &name}}))
    return;
  push(
      {About::process, life_verb(event.opcode), 0, event.timestamp, static_cast<u32>(pid), 0, 0, 0},
      name);
}

// By offsets: traces have tens of thousands of them.
void NameRecords::add_thread(const Event& event) {
  const auto ids = core::Fields<8>::at(event.payload, 0);
  if (!ids) return;
  const auto first = ids->get<u32, 0>();
  const auto second = ids->get<u32, 4>();
  constexpr u8 set_name = 72;
  const bool reversed = event.version == 0 && event.opcode != set_name;
  // What lies before the name, which version 3 has since Windows 10.
  const std::size_t fixed = event.opcode == set_name ? 8 : event.pointer_size == 8 ? 72 : 44;
  std::string name;
  if ((event.opcode == set_name || event.version >= 3) && event.payload.size() > fixed)
    name = core::decode_exact(core::until_nul_unit(event.payload.subspan(fixed)));
  push({About::thread, event.opcode == set_name ? Verb::begins : life_verb(event.opcode),
        reversed ? second : first, event.timestamp, reversed ? first : second, 0, 0, 0},
       name);
}

void NameRecords::add_image(const Event& event) {
  u64 base = 0;
  u64 size = 0;
  u64 pid = 0;
  u64 time_date_stamp = 0;
  u64 checksum = 0;
  std::string name;
  if (!pick_fields(schema_of(event), event,
                   {{"ImageBase", &base, nullptr},
                    {"BaseAddress", &base, nullptr},
                    {"ImageSize", &size, nullptr},
                    {"ModuleSize", &size, nullptr},
                    {"ProcessId", &pid, nullptr},
                    {"ImageChecksum", &checksum, nullptr},
                    {"TimeDateStamp", &time_date_stamp, nullptr},
                    {"FileName", nullptr, &name},
                    {"ImageFileName", nullptr, &name}}))
    return;
  push({About::image, life_verb(event.opcode), static_cast<u32>(pid), event.timestamp, base, size,
        0, 0, static_cast<u32>(time_date_stamp), static_cast<u32>(checksum)},
       name);
}

void NameRecords::add_image_file(const Event& event) {
  constexpr std::array opcodes{image_id_info, image_id_dbg, image_id_rsds, image_id_il_rsds,
                               image_id_portable};
  if (std::ranges::find(opcodes, event.opcode) == opcodes.end()) return;
  u64 pid = 0;
  u64 time_date_stamp = 0;
  u64 checksum = 0;
  u64 age = 0;
  u64 version = 0;
  ImageFileRecord record{.owner = 0, .time = event.timestamp, .base = 0};
  if (!pick_fields(schema_of(event), event,
                   {{"ImageBase", &record.base},
                    {"ProcessId", &pid},
                    {"ImageChecksum", &checksum},
                    {"TimeDateStamp", &time_date_stamp},
                    {"GuidSig", nullptr, nullptr, &record.pdb_guid},
                    {"Age", &age},
                    {"PdbFileName", nullptr, &record.pdb_name},
                    {"Version", &version}}))
    return;
  record.owner = static_cast<u32>(pid);
  if (event.opcode == image_id_il_rsds || event.opcode == image_id_portable) {
    if (event.opcode == image_id_portable && version != portable_version) return;
    image_files_.push_back({.owner = record.owner,
                            .time = record.time,
                            .base = record.base,
                            .portable_pdb = event.opcode == image_id_portable,
                            .has_il_pdb = event.opcode == image_id_il_rsds});
    return;
  }
  record.time_date_stamp = static_cast<u32>(time_date_stamp);
  record.checksum = static_cast<u32>(checksum);
  record.pdb_age = static_cast<u32>(age);
  record.pdb_name.resize(core::cut_exact(record.pdb_name, longest_text).size());
  image_files_.push_back(std::move(record));
}

void NameRecords::add_file(const Event& event) {
  u64 object = 0;
  std::string name;
  if (!pick_fields(schema_of(event), event,
                   {{"FileObject", &object, nullptr},
                    {"FileName", nullptr, &name},
                    {"OpenPath", nullptr, &name}}))
    return;
  const auto verb = event.opcode == 36   ? Verb::exists_after
                    : event.opcode == 35 ? Verb::ends
                                         : Verb::begins;
  push({About::file, verb, 0, event.timestamp, object, 0, 0, 0}, name);
}

void NameRecords::add_registry_key(const Event& event) {
  u64 key = 0;
  std::string name;
  if (!pick_fields(schema_of(event), event,
                   {{"KeyHandle", &key, nullptr}, {"KeyName", nullptr, &name}}))
    return;
  constexpr Verb verbs[] = {Verb::begins, Verb::ends, Verb::exists_before, Verb::exists_after};
  push({About::registry_key, verbs[event.opcode - 22], 0, event.timestamp, key, 0, 0, 0}, name);
}

void NameRecords::add_stack(const Event& event) {
  const std::size_t width = event.pointer_size;
  if (event.payload.size() < width) return;
  const auto word = [&](std::size_t at) {
    return width == 8 ? *core::load<u64>(event.payload, at)
                      : u64{*core::load<u32>(event.payload, at)};
  };
  const auto first = static_cast<u32>(frames_.size());
  u32 count = 0;
  for (std::size_t at = width; at + width <= event.payload.size(); at += width, ++count)
    frames_.push_back(word(at));
  constexpr Verb verbs[] = {Verb::begins, Verb::ends, Verb::exists_after};
  records_.push_back(
      {About::stack, verbs[event.opcode - 34], 0, event.timestamp, word(0), 0, first, count});
}

// Other sources than the timer count what the hardware does.
void NameRecords::add_sampling_interval(const Event& event) {
  constexpr u32 profile_time = 0;  // a KPROFILE_SOURCE
  const auto fields = core::Fields<12>::at(event.payload, 0);
  if (!fields || fields->get<u32, 0>() != profile_time || fields->get<u32, 4>() == 0) return;
  sampling_intervals_.push_back({event.timestamp, fields->get<u32, 8>(), fields->get<u32, 4>()});
}

void NameRecords::add_started_process(u32 pid, i64 time, std::string_view image_name) {
  push({About::process, Verb::begins, 0, time, pid, 0, 0, 0}, image_name);
}

}  // namespace coldtrace::tracefile
