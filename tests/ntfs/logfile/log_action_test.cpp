#include "coldtrace/ntfs/logfile/log_action.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"
#include "fixtures/builders/byte_writer.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

// Source: Linux's ntfs3, fslog.c, struct LOG_REC_HDR.
fixtures::ByteWriter action(u16 redo, u16 undo, u16 block, u64 vcn) {
  fixtures::ByteWriter data;
  data.write_u16(redo).write_u16(undo);
  data.write_u16(0x28).write_u16(4).write_u16(0x30).write_u16(2);  // where the data is
  data.write_u16(0x18).write_u16(1);                               // attribute, clusters
  data.write_u16(0x38).write_u16(0x10);                            // places in record, attribute
  data.write_u16(block).write_u16(2).write_u64(vcn).write_u64(0x1234);
  data.write_text("redo").pad_to(0x30).write_text("un");
  return data;
}

}  // namespace

TEST_CASE("an action has what is done and what would undo it") {
  const auto bytes = action(0x07, 0x07, 0, 3);
  const auto read = read_log_action(bytes.view(), 4096);
  REQUIRE(read);
  CHECK(to_string(read->redo) == "UpdateResidentValue");
  CHECK(read->redo == LogOperation::update_resident_value);
  CHECK(core::to_chars(read->redo_data) == "redo");
  CHECK(core::to_chars(read->undo_data) == "un");
  CHECK(read->record_offset == 0x38);
  CHECK(read->attribute_offset == 0x10);
}

TEST_CASE("a FILE record is known by its cluster and the sectors before it") {
  // Four records of 1 KiB lie in a cluster of 4 KiB: two sectors each.
  CHECK(read_log_action(action(0x02, 0x03, 0, 3).view(), 4096)->file == 12);
  CHECK(read_log_action(action(0x02, 0x03, 4, 3).view(), 4096)->file == 14);
}

// Source: the same, do_action(): the operations on a record of $MFT, whose neighbours in the list
// are on index buffers, bitmaps and contents.
TEST_CASE("operations on a FILE record are those of Linux's ntfs3") {
  const std::set<std::string_view> expected{"InitializeFileRecordSegment",
                                            "DeallocateFileRecordSegment",
                                            "WriteEndOfFileRecordSegment",
                                            "CreateAttribute",
                                            "DeleteAttribute",
                                            "UpdateResidentValue",
                                            "UpdateMappingPairs",
                                            "SetNewAttributeSizes",
                                            "AddIndexEntryRoot",
                                            "DeleteIndexEntryRoot",
                                            "SetIndexEntryVcnRoot",
                                            "UpdateFileNameRoot",
                                            "UpdateRecordDataRoot",
                                            "UpdateRelativeDataIndex",
                                            "ZeroEndOfFileRecord"};
  std::set<std::string_view> found;
  for (u16 number = 0; number < 0x40; ++number) {
    const auto redo = read_log_action(action(number, 0, 0, 3).view(), 4096);
    const auto undo = read_log_action(action(0, number, 0, 3).view(), 4096);
    REQUIRE(redo);
    REQUIRE(undo);
    CHECK(redo->is_of_file_record() == undo->is_of_file_record());
    if (redo->is_of_file_record()) found.insert(to_string(redo->redo));
  }
  CHECK(found == expected);
}

TEST_CASE("an action on something else is of no FILE record, and one that is cut is none") {
  const auto index = action(0x0e, 0x0f, 0, 3);
  const auto read = read_log_action(index.view(), 4096);
  REQUIRE(read);
  CHECK_FALSE(read->is_of_file_record());
  CHECK_FALSE(read->file);
  CHECK_FALSE(read_log_action(index.view().first(31), 4096));
  CHECK(to_string(static_cast<LogOperation>(0x7fff)).empty());
}
