#include <cstddef>

#include <catch2/catch.hpp>

#include "coldtrace/nt_trace_control/trace_control_layout.hpp"

namespace coldtrace::tracefile {
namespace {

// The structures as C declares them, so that the compiler places their members.
// Source: Windows SDK and WDK, wmistr.h, ntwmi.h, evntrace.h, evntprov.h, ntetw.h.
namespace c {

struct Guid {
  u32 data1;
  u16 data2, data3;
  u8 data4[8];
};

struct WnodeHeader {
  u32 BufferSize, ProviderId;
  u64 HistoricalContext;
  i64 TimeStamp;
  Guid guid;
  u32 ClientContext, Flags;
};

struct UnicodeString64 {
  u16 Length, MaximumLength;
  u64 Buffer;
};

struct LoggerInformation {
  WnodeHeader Wnode;
  u32 BufferSize, MinimumBuffers, MaximumBuffers, MaximumFileSize, LogFileMode, FlushTimer,
      EnableFlags;
  i32 AgeLimit;
  u32 Wow;
  u64 LogFileHandle;
  u32 NumberOfBuffers, FreeBuffers, EventsLost, BuffersWritten, LogBuffersLost, RealTimeBuffersLost;
  u64 LoggerThreadId;
  UnicodeString64 LogFileName, LoggerName;
  u32 RealTimeConsumerCount, SpareUlong;
  u64 LoggerExtension;
};

struct EtwNotificationHeader {
  u32 NotificationType, NotificationSize, Offset;
  u8 ReplyRequested;
  u32 Timeout, ReplyCount;
  u64 Reserved2;
  u32 TargetPID, SourcePID;
  Guid DestinationGuid, SourceGuid;
};

struct TraceEnableInfo {
  u32 IsEnabled;
  u8 Level, Reserved1;
  u16 LoggerId;
  u32 EnableProperty, Reserved2;
  u64 MatchAnyKeyword, MatchAllKeyword;
};

struct TraceEnableContext {
  u16 LoggerId;
  u8 Level, InternalFlag;
  u32 EnableFlags;
};

struct EventDescriptor {
  u16 Id;
  u8 Version, Channel, Level, Opcode;
  u16 Task;
  u64 Keyword;
};

struct EventFilterDescriptor {
  u64 Ptr;
  u32 Size, Type;
};

struct EventFilterHeader {
  u16 Id;
  u8 Version, Reserved[5];
  u64 InstanceId;
  u32 Size, NextOffset;
};

}  // namespace c

struct Member {
  ControlStructure structure;
  const char* name;
  std::size_t offset;
  std::size_t size;
};

#define MEMBER(structure, type, member)                                                      \
  Member {                                                                                   \
    ControlStructure::structure, #member, offsetof(c::type, member), sizeof(c::type::member) \
  }

const Member members[] = {
    MEMBER(wnode_header, WnodeHeader, BufferSize),
    MEMBER(wnode_header, WnodeHeader, ProviderId),
    MEMBER(wnode_header, WnodeHeader, HistoricalContext),
    MEMBER(wnode_header, WnodeHeader, TimeStamp),
    MEMBER(wnode_header, WnodeHeader, ClientContext),
    MEMBER(wnode_header, WnodeHeader, Flags),
    MEMBER(logger_information, LoggerInformation, BufferSize),
    MEMBER(logger_information, LoggerInformation, MinimumBuffers),
    MEMBER(logger_information, LoggerInformation, MaximumBuffers),
    MEMBER(logger_information, LoggerInformation, MaximumFileSize),
    MEMBER(logger_information, LoggerInformation, LogFileMode),
    MEMBER(logger_information, LoggerInformation, FlushTimer),
    MEMBER(logger_information, LoggerInformation, EnableFlags),
    MEMBER(logger_information, LoggerInformation, AgeLimit),
    MEMBER(logger_information, LoggerInformation, Wow),
    MEMBER(logger_information, LoggerInformation, LogFileHandle),
    MEMBER(logger_information, LoggerInformation, NumberOfBuffers),
    MEMBER(logger_information, LoggerInformation, FreeBuffers),
    MEMBER(logger_information, LoggerInformation, EventsLost),
    MEMBER(logger_information, LoggerInformation, BuffersWritten),
    MEMBER(logger_information, LoggerInformation, LogBuffersLost),
    MEMBER(logger_information, LoggerInformation, RealTimeBuffersLost),
    MEMBER(logger_information, LoggerInformation, LoggerThreadId),
    MEMBER(logger_information, LoggerInformation, LogFileName.Length),
    MEMBER(logger_information, LoggerInformation, LogFileName.MaximumLength),
    MEMBER(logger_information, LoggerInformation, LoggerName.Length),
    MEMBER(logger_information, LoggerInformation, LoggerName.MaximumLength),
    MEMBER(logger_information, LoggerInformation, RealTimeConsumerCount),
    MEMBER(logger_information, LoggerInformation, SpareUlong),
    MEMBER(logger_information, LoggerInformation, LoggerExtension),
    MEMBER(notification, EtwNotificationHeader, NotificationType),
    MEMBER(notification, EtwNotificationHeader, NotificationSize),
    MEMBER(notification, EtwNotificationHeader, Offset),
    MEMBER(notification, EtwNotificationHeader, ReplyRequested),
    MEMBER(notification, EtwNotificationHeader, Timeout),
    MEMBER(notification, EtwNotificationHeader, ReplyCount),
    MEMBER(notification, EtwNotificationHeader, Reserved2),
    MEMBER(notification, EtwNotificationHeader, TargetPID),
    MEMBER(notification, EtwNotificationHeader, SourcePID),
    MEMBER(notification, EtwNotificationHeader, DestinationGuid),
    MEMBER(notification, EtwNotificationHeader, SourceGuid),
    MEMBER(trace_enable_info, TraceEnableInfo, IsEnabled),
    MEMBER(trace_enable_info, TraceEnableInfo, Level),
    MEMBER(trace_enable_info, TraceEnableInfo, Reserved1),
    MEMBER(trace_enable_info, TraceEnableInfo, LoggerId),
    MEMBER(trace_enable_info, TraceEnableInfo, EnableProperty),
    MEMBER(trace_enable_info, TraceEnableInfo, Reserved2),
    MEMBER(trace_enable_info, TraceEnableInfo, MatchAnyKeyword),
    MEMBER(trace_enable_info, TraceEnableInfo, MatchAllKeyword),
    MEMBER(trace_enable_context, TraceEnableContext, LoggerId),
    MEMBER(trace_enable_context, TraceEnableContext, Level),
    MEMBER(trace_enable_context, TraceEnableContext, InternalFlag),
    MEMBER(trace_enable_context, TraceEnableContext, EnableFlags),
    MEMBER(event_descriptor, EventDescriptor, Id),
    MEMBER(event_descriptor, EventDescriptor, Version),
    MEMBER(event_descriptor, EventDescriptor, Channel),
    MEMBER(event_descriptor, EventDescriptor, Level),
    MEMBER(event_descriptor, EventDescriptor, Opcode),
    MEMBER(event_descriptor, EventDescriptor, Task),
    MEMBER(event_descriptor, EventDescriptor, Keyword),
    MEMBER(filter_descriptor, EventFilterDescriptor, Ptr),
    MEMBER(filter_descriptor, EventFilterDescriptor, Size),
    MEMBER(filter_descriptor, EventFilterDescriptor, Type),
    MEMBER(filter_header, EventFilterHeader, Id),
    MEMBER(filter_header, EventFilterHeader, Version),
    MEMBER(filter_header, EventFilterHeader, InstanceId),
    MEMBER(filter_header, EventFilterHeader, Size),
    MEMBER(filter_header, EventFilterHeader, NextOffset),
};

#undef MEMBER

const ControlField* find_field(ControlStructure structure, std::string_view name) {
  for (const auto& field : control_fields())
    if (field.structure == structure && field.name.view() == name) return &field;
  return nullptr;
}

}  // namespace

TEST_CASE("members of Microsoft's structures are where a compiler puts them") {
  for (const auto& member : members) {
    CAPTURE(member.name);
    const auto* field = find_field(member.structure, member.name);
    REQUIRE(field);
    CHECK(field->offset == member.offset);
    CHECK(size_of(field->type) == member.size);
  }
  const auto size = [](ControlStructure structure) {
    return find_control_layout(structure, KernelVersion::v10_0)->size;
  };
  CHECK(size(ControlStructure::wnode_header) == sizeof(c::WnodeHeader));
  CHECK(size(ControlStructure::logger_information) == sizeof(c::LoggerInformation));
  CHECK(size(ControlStructure::notification) == sizeof(c::EtwNotificationHeader));
  CHECK(size(ControlStructure::private_notification) == sizeof(c::EtwNotificationHeader));
  CHECK(size(ControlStructure::trace_enable_info) == sizeof(c::TraceEnableInfo));
  CHECK(size(ControlStructure::trace_enable_context) == sizeof(c::TraceEnableContext));
  CHECK(size(ControlStructure::event_descriptor) == sizeof(c::EventDescriptor));
  CHECK(size(ControlStructure::filter_descriptor) == sizeof(c::EventFilterDescriptor));
  CHECK(size(ControlStructure::filter_header) == sizeof(c::EventFilterHeader));
}

// Every structure that the document gives a size for.
TEST_CASE("structures have the size that the document gives them") {
  struct Row {
    const char* section;
    ControlStructure structure;
    KernelVersion version;
    u16 size;
  };
  using enum KernelVersion;
  const auto row = GENERATE(values<Row>({
      {"Function Code 0x0B", ControlStructure::real_time_connect, v6_0, 0x20},
      {"Function Code 0x0B", ControlStructure::real_time_connect, v6_1, 0x50},
      {"Function Code 0x0B", ControlStructure::real_time_connect, v6_2, 0x50},
      {"Function Code 0x0B", ControlStructure::real_time_connect, v6_3, 0x60},
      {"Function Code 0x0B", ControlStructure::real_time_connect, v10_0, 0x60},
      {"EtwActivityIdCreate (0x0C)", ControlStructure::activity_id, v10_0, 0x10},
      {"EtwWdiScenarioCode (0x0D)", ControlStructure::wdi_scenario, v6_0, 0x30},
      {"Function Code 0x0E", ControlStructure::real_time_disconnect, v6_0, 8},
      {"Function Code 0x0F", ControlStructure::registration_header, v6_0, 0x28},
      {"Function Code 0x0F", ControlStructure::enable_notification, v6_0, 0x78},
      {"Function Code 0x0F", ControlStructure::registration, v10_0, 0xa0},
      {"Function Code 0x11", ControlStructure::private_notification, v10_0, 0x48},
      {"Function Code 0x19", ControlStructure::logger_selection, v6_2, 4},
      {"Function Code 0x19", ControlStructure::reference_clock, v6_2, 0x10},
      {"Function Code 0x1B", ControlStructure::notification_event, v6_3, 4},
      {"Function Code 0x1C", ControlStructure::disallow_list, v10_0, 8},
      {"Function Code 0x1C", ControlStructure::disallow_entry, v10_0, 0x10},
  }));
  CAPTURE(row.section, to_string(row.version));
  const auto* layout = find_control_layout(row.structure, row.version);
  REQUIRE(layout);
  CHECK(layout->size == row.size);
}

TEST_CASE("the fields of a structure follow each other inside it in every version") {
  for (const auto& layout : control_layouts())
    for (const auto version : kernel_versions) {
      if (!layout.versions.contains(version)) continue;
      u64 end = 0;
      for (const auto& field : control_fields()) {
        if (field.structure != layout.structure || !field.versions.contains(version)) continue;
        CAPTURE(layout.name.view(), field.name.view(), to_string(version));
        CHECK(field.offset >= end);
        const auto* inner = find_control_layout(field.inner, version);
        REQUIRE((field.type == ControlType::part) == (inner != nullptr));
        end = field.offset + u64{inner ? inner->size : size_of(field.type)};
        CHECK(end <= layout.size);
      }
    }
}

}  // namespace coldtrace::tracefile
