#include "coldtrace/ntfs/logfile/log_action.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/structures/attribute.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr std::array<std::string_view, 38> names = {"Noop",
                                                    "CompensationLogRecord",
                                                    "InitializeFileRecordSegment",
                                                    "DeallocateFileRecordSegment",
                                                    "WriteEndOfFileRecordSegment",
                                                    "CreateAttribute",
                                                    "DeleteAttribute",
                                                    "UpdateResidentValue",
                                                    "UpdateNonresidentValue",
                                                    "UpdateMappingPairs",
                                                    "DeleteDirtyClusters",
                                                    "SetNewAttributeSizes",
                                                    "AddIndexEntryRoot",
                                                    "DeleteIndexEntryRoot",
                                                    "AddIndexEntryAllocation",
                                                    "DeleteIndexEntryAllocation",
                                                    "WriteEndOfIndexBuffer",
                                                    "SetIndexEntryVcnRoot",
                                                    "SetIndexEntryVcnAllocation",
                                                    "UpdateFileNameRoot",
                                                    "UpdateFileNameAllocation",
                                                    "SetBitsInNonresidentBitMap",
                                                    "ClearBitsInNonresidentBitMap",
                                                    "HotFix",
                                                    "EndTopLevelAction",
                                                    "PrepareTransaction",
                                                    "CommitTransaction",
                                                    "ForgetTransaction",
                                                    "OpenNonresidentAttribute",
                                                    "OpenAttributeTableDump",
                                                    "AttributeNamesDump",
                                                    "DirtyPageTableDump",
                                                    "TransactionTableDump",
                                                    "UpdateRecordDataRoot",
                                                    "UpdateRecordDataAllocation",
                                                    "UpdateRelativeDataIndex",
                                                    "UpdateRelativeDataAllocation",
                                                    "ZeroEndOfFileRecord"};

bool is_on_file_record(LogOperation operation) {
  constexpr std::array<u16, 15> known = {0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0x0b,
                                         0x0c, 0x0d, 0x11, 0x13, 0x21, 0x23, 0x25};
  return std::ranges::find(known, static_cast<u16>(operation)) != known.end();
}

// What is cut is less of it: a name that is then not whole is none.
core::ByteView part_of(core::ByteView data, u16 offset, u16 size) {
  if (offset == 0 || offset >= data.size()) return {};
  return data.subspan(offset, std::min<std::size_t>(size, data.size() - offset));
}

std::optional<u64> file_record_of(u64 vcn, u32 cluster_size, u16 block, u16 blocks) {
  constexpr u64 block_size = 512;
  constexpr u64 usual_size = 1024;
  const u64 record_size = blocks == 0 ? usual_size : blocks * block_size;
  const auto offset = core::checked_multiply(vcn, cluster_size);
  const auto place = offset ? core::checked_add(*offset, block * block_size) : std::nullopt;
  constexpr u64 most_records = u64{1} << 48;
  if (!place || *place / record_size >= most_records) return std::nullopt;
  return *place / record_size;
}

template <class T>
std::optional<T> to_optional(core::Result<T> result) {
  return result ? std::optional<T>{std::move(*result)} : std::nullopt;
}

}  // namespace

std::string_view to_string(LogOperation operation) {
  const auto number = static_cast<std::size_t>(operation);
  return number < names.size() ? names[number] : std::string_view{};
}

bool LogAction::is_of_file_record() const {
  return is_on_file_record(redo) || is_on_file_record(undo);
}

std::optional<LogAction> read_log_action(core::ByteView data, u32 cluster_size) {
  const auto fields = core::Fields<32>::at(data, 0);
  if (!fields) return std::nullopt;
  LogAction action{.redo = static_cast<LogOperation>(fields->get<u16, 0>()),
                   .undo = static_cast<LogOperation>(fields->get<u16, 2>()),
                   .redo_data = part_of(data, fields->get<u16, 4>(), fields->get<u16, 6>()),
                   .undo_data = part_of(data, fields->get<u16, 8>(), fields->get<u16, 10>()),
                   .record_offset = fields->get<u16, 16>(),
                   .attribute_offset = fields->get<u16, 18>(),
                   .file = std::nullopt};
  if (action.is_of_file_record())
    action.file = file_record_of(fields->get<u64, 24>(), cluster_size, fields->get<u16, 20>(),
                                 fields->get<u16, 22>());
  return action;
}

std::optional<LogEntry> read_log_entry(core::ByteView data) {
  constexpr u64 head = 0x10;
  const auto file = core::load<u64>(data, 0);
  const u16 key = core::load<u16>(data, 10).value_or(0);
  if (!file || key < FileName::fixed_size || data.size() <= head) return std::nullopt;
  auto name =
      to_optional(read_file_name(data.subspan(head, std::min<u64>(key, data.size() - head)), 0));
  if (!name) return std::nullopt;
  return LogEntry{to_file_reference(*file), *name};
}

std::optional<LogFileRecord> read_logged_record(core::ByteView data) {
  constexpr u32 magic_file = 0x454c4946;  // "FILE"
  const auto head = core::Fields<0x30>::at(data, 0);
  if (!head || head->get<u32, 0>() != magic_file) return std::nullopt;
  LogFileRecord record{.sequence = head->get<u16, 0x10>(),
                       .flags = head->get<u16, 0x16>(),
                       .times = {},
                       .names = {}};
  AttributeReader attributes{data, head->get<u16, 0x14>(),
                             static_cast<u32>(std::min<u64>(data.size(), head->get<u32, 0x18>())),
                             0};
  while (const auto attribute = attributes.next()) {
    if (!attribute->resident) continue;
    if (attribute->type == AttributeType::standard_information) {
      if (const auto information = read_standard_information(attribute->value, 0))
        record.times = information->times;
    } else if (attribute->type == AttributeType::file_name) {
      if (auto name = read_file_name(attribute->value, 0)) record.names.push_back(*name);
    }
  }
  return record;
}

}  // namespace coldtrace::ntfs
